import { resolve } from 'node:path'
import { z } from 'zod'
import { either, list, map, shape, text, whole } from '../fields.ts'
import type { Expectation, JsonSchema } from '../steps.ts'
import type { Origin } from './origin.ts'

/** An answer, as the function of an expectation sees it. */
export interface AnswerToCheck {
  /** All its text; empty for none. */
  readonly text: string
  /** The tools that it calls, with arguments as JSON text. */
  readonly tools: readonly { readonly name: string; readonly arguments: string }[]
  /** Completion tokens that the service reports; null for none. */
  readonly completionTokens: number | null
}

/** Judges an answer: true if it is correct; false, or why it is wrong. It must not wait for anything. */
export type AnswerCheck = (answer: AnswerToCheck) => boolean | string

export const modulePath = text('the path of a module')
export const moduleCheck = either(
  [modulePath, z.custom<AnswerCheck>((value) => typeof value === 'function')],
  'the path of a module, or a function',
)

const jsonSchema = either(
  [text('a path'), z.literal(true), map(z.unknown(), 'a JSON Schema')],
  'a JSON Schema, the path of one, or true',
)

const what = 'what the answer must hold: contains, matches, exact, least_tokens, json, tool, check'

export const expectation = <Check extends z.ZodType>(check: Check) =>
  shape(what, {
    contains: [
      either(
        [text('a text'), list(text('a text'), 'a list of texts').min(1)],
        'a text, or a list of texts',
      ).optional(),
      'A text, or several, that the answer contains.',
    ],
    matches: [
      text('a regular expression').optional(),
      'A regular expression of JavaScript that the answer matches somewhere.',
    ],
    exact: [z.string({ error: 'a text' }).optional(), 'The whole answer, for temperature 0.'],
    least_tokens: [
      whole(1).optional(),
      'The least completion tokens, as the service reports them.',
    ],
    json: [
      jsonSchema.optional(),
      'The answer is JSON: a JSON Schema, the path of one, or true for any JSON.',
    ],
    tool: [
      either(
        [
          text('the name of a tool'),
          shape('', {
            name: [text('the name of a tool'), 'Name of the tool.'],
            arguments: [
              jsonSchema.optional(),
              'What its arguments must hold: a JSON Schema, or the path of one. Default: any.',
            ],
          }),
        ],
        'the name of a tool, or { name, arguments }',
      ).optional(),
      'A tool that the answer calls: its name, or { name, arguments }.',
    ],
    check: [
      check.optional(),
      'A module whose default export judges the answer: true, false, or why it is wrong.',
    ],
  })

type Written = z.output<ReturnType<typeof expectation<typeof moduleCheck>>>

/** In the order in which they are checked: the cheapest first. */
export function expectationsOf(
  expect: Written | undefined,
  { folder }: Origin,
): readonly Expectation[] {
  if (expect === undefined) return []
  const { contains, matches, exact, least_tokens: least, json, tool, check } = expect
  const schemaOf = (schema: NonNullable<Written['json']>): JsonSchema =>
    typeof schema === 'string' ? { path: resolve(folder, schema) } : { schema }
  const found: Expectation[] = []
  if (exact !== undefined) found.push({ kind: 'exact', text: exact })
  if (contains !== undefined) {
    found.push({ kind: 'contains', texts: typeof contains === 'string' ? [contains] : contains })
  }
  if (least !== undefined) found.push({ kind: 'tokens', least })
  if (matches !== undefined) found.push({ kind: 'matches', pattern: matches })
  if (json !== undefined) found.push({ kind: 'json', json: schemaOf(json) })
  if (tool !== undefined) {
    const { name, arguments: schema } =
      typeof tool === 'string' ? { name: tool, arguments: undefined } : tool
    found.push({ kind: 'tool', name, arguments: schema === undefined ? null : schemaOf(schema) })
  }
  if (check !== undefined) {
    const path = typeof check === 'string' ? resolve(folder, check) : null
    found.push({ kind: 'check', path })
  }
  return found
}
