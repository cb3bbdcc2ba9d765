import { z } from 'zod'
import { mappedNames } from '../../../measure/usage/quantities.ts'

/** A column, or a path in JSON as a list of steps. */
export const columnName = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])

const word = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const words = z.union([word.transform((one) => [one]), z.array(word).min(1)])
const columns = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1),
])

/** What a field must be: a word, one of several, another one (`not`), there or absent (`present`). */
const test = z.union([
  z.strictObject({ not: words }),
  z.strictObject({ present: z.boolean() }),
  words.transform((is) => ({ is })),
])

/** Conditions that all must hold. `present: field` and `absent: field` name fields that must be there or not. */
const condition = z.record(z.string().min(1), z.unknown()).transform((record, context) =>
  Object.entries(record).flatMap(([name, value]): readonly Condition[] => {
    const isNames = name === 'present' || name === 'absent'
    const parsed = (isNames ? columns : test).safeParse(value)
    if (!parsed.success) {
      context.addIssue({
        code: 'custom',
        message: isNames
          ? `${name}: expected the name of a column, or a list of names`
          : `${name}: expected a word, a list of words, { not: word } or { present: true }`,
      })
      return []
    }
    if (!isNames) return [{ column: name, ...(parsed.data as Test) }]
    return (parsed.data as readonly string[]).map((column) => ({
      column,
      present: name === 'present',
    }))
  }),
)

const conditions = z.union([
  condition,
  z
    .array(condition)
    .min(1)
    .transform((list) => list.flat()),
])

type Test = z.output<typeof test>
export type Condition = { readonly column: string } & (
  | { readonly is: readonly string[] }
  | { readonly not: readonly string[] }
  | { readonly present: boolean }
)

const carried = z.union([
  z.string().min(1),
  z.strictObject({ column: columnName, where: conditions.optional() }),
])

export const countedFields = ['requests', 'credits', ...mappedNames] as const

const wordPlace = z.union([
  z.string().min(1),
  z.strictObject({
    column: columnName,
    /** Words of the log and what they mean; `*` stands for any letters. */
    values: z.record(z.string(), word).optional(),
  }),
])

/** Parts of a mapping that say which lines count, and what a line means beside others (docs/importing.md). */
export const lineRules = {
  /** Lines that do not hold these are left out, counted and said. */
  where: conditions.optional(),
  /** Fields whose value is that of the last line that has it, within a file and a session. */
  carry: z
    .partialRecord(z.enum(['session', 'model', 'account', 'endpoint', 'key', 'keyFp']), carried)
    .optional(),
  /** Fields that are running totals: a line counts what it adds. */
  cumulative: z
    .strictObject({
      by: z.literal('session').optional(),
      fields: z.array(z.enum(countedFields)).min(1),
    })
    .optional(),
  /** One amount of tokens in a line, its kind and its factor. */
  quantity: z
    .strictObject({ column: columnName, kind: wordPlace, per: wordPlace.optional() })
    .optional(),
  /** Whether a line is a request: `false` for a charge, conditions for some lines, `unknown`. */
  request: z.union([z.boolean(), z.literal('unknown'), conditions]).optional(),
  /** Lines are charges that add up, whatever their width. A list names the columns with amounts. */
  amounts: z.union([z.literal('disjoint'), z.array(z.string().min(1)).min(1)]).optional(),
} as const
