import { isList, isObject, type Json, type JsonObject } from '../user/json.ts'

/** A field of an answer of the credits endpoint, at any depth of objects. Lists hold lines, not fields. */
export interface Field {
  /** In lower case with underscores: `byDay` is `by_day`. */
  readonly name: string
  /** As the body has it: `usage.byDay`. */
  readonly path: string
  /** Names of the enclosing objects, outermost first. */
  readonly within: string
  readonly value: Json | undefined
}

/** A body may be nested deeper; no service means anything there. */
const mostDepth = 50

/**
 * All fields of a body, least nested first.
 *
 * @param which the fields of lines in lists, too
 */
export function fieldsOf(
  body: JsonObject,
  which: 'without lines' | 'and lines' = 'without lines',
): readonly Field[] {
  const fields: Field[] = []
  let level: readonly Omit<Field, 'name'>[] = [{ value: body, path: '', within: '' }]
  for (let depth = 0; depth < mostDepth && level.length > 0; depth++) {
    level = level.flatMap(({ value: each, path, within }) => {
      if (isList(each))
        return which === 'and lines' ? each.map((value) => ({ value, path, within })) : []
      if (!isObject(each)) return []
      return Object.entries(each).map(([written, value]) => {
        const field = { name: snaked(written), path: `${path}${written}`, within, value }
        fields.push(field)
        return { value, path: `${field.path}.`, within: `${within} ${field.name}` }
      })
    })
  }
  return fields
}

const snaked = (name: string): string =>
  name
    .slice(0, mostLetters)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()

const mostLetters = 100

/** Objects whose numbers cover a part of the usage, or a limit. */
const partial = /limit|today|hour|da(?:y|ily)|week|month|year|model|endpoint/

/** Fields that are about the whole usage. */
export const ofTheWhole = (fields: readonly Field[]): readonly Field[] =>
  fields.filter(({ within }) => !partial.test(within))

/** Names of what was spent. `unused_credits` is what was not. */
export const spent = [/consumed/, /(?<!un)used/, /(?<!un)spent/, /usage/]

/** Names of times, and of counts in other units than credits. */
const isOther =
  /token|request|limit|percent|today|hour|da(?:y|ily)|week|month|_at$|_on$|(?:^|_)(?:last|first|updated|since)(?:_|$)/

/** Fields that may be amounts of credits. */
export const ofCredits = (fields: readonly Field[]): readonly Field[] =>
  fields.filter(({ name }) => !isOther.test(name))

/** A sum or a difference of amounts without what doubles add to it: 0.1 + 0.2 is 0.3. */
export const withoutNoise = (amount: number): number =>
  Number.isInteger(amount) ? amount : Number(amount.toPrecision(12))

/** All values whose names match, in the order of the patterns. */
const valuesNamed = (fields: readonly Field[], patterns: readonly RegExp[]) =>
  patterns.flatMap((pattern) =>
    fields.filter(({ name }) => pattern.test(name)).map(({ value }) => value),
  )

/** All numbers whose names match, in the order of the patterns. */
export const numbersNamed = (fields: readonly Field[], ...patterns: readonly RegExp[]) =>
  valuesNamed(fields, patterns)
    .map(numeric)
    .filter((number) => number !== null)

/** A number, even as text: "97"; null if no double holds it exactly. */
export function numeric(value: unknown): number | null {
  const isDecimal = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
  const number = isDecimal ? Number(value) : value
  if (typeof number !== 'number') return null
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null
}

/** The first text that has digits and is no number, at a name that matches: `1,499`; null without one. */
export const unreadableNamed = (fields: readonly Field[], ...patterns: readonly RegExp[]) =>
  valuesNamed(fields, patterns).find(
    (value): value is string =>
      typeof value === 'string' && /\d/.test(value) && numeric(value) === null,
  ) ?? null

/** The first text whose name matches. */
export const textNamed = (fields: readonly Field[], pattern: RegExp): string | null =>
  valuesNamed(fields, [pattern]).find((value) => typeof value === 'string') ?? null

/** The response's name for the time zone of its days and hours. */
export const timeZoneNamed = (fields: readonly Field[]): string | null =>
  textNamed(fields, /^(?:time_?zone|tz|zone)$/)
