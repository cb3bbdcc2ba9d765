import { isObject, type Json, type JsonObject } from '../json.ts'

/** A field of a body, at any depth of objects. Lists hold lines, not fields. */
export interface Field {
  /** In lower case with underscores: `byDay` is `by_day`. */
  readonly name: string
  /** Names of the enclosing objects, outermost first. */
  readonly within: string
  readonly value: Json | undefined
}

/** All fields of a body, least nested first. */
export function fieldsOf(body: JsonObject): readonly Field[] {
  const fields: Field[] = []
  const enter = (object: JsonObject, within: string) => {
    for (const [name, value] of Object.entries(object)) {
      fields.push({ name: snaked(name), within, value })
    }
  }
  enter(body, '')
  // The list grows during the loop: fields of an object come after all that are less deep.
  for (const { name, within, value } of fields) {
    if (isObject(value)) enter(value, `${within} ${name}`)
  }
  return fields
}

function snaked(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase()
}

/** Objects whose numbers cover a part of the usage, or a limit. */
const partial = /limit|today|hour|da(?:y|ily)|week|month|year|model|endpoint/

/** Fields that are about the whole usage. */
export function ofTheWhole(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ within }) => !partial.test(within))
}

/** All numbers whose names match, in the order of the patterns. */
export function numbersNamed(
  fields: readonly Field[],
  ...patterns: readonly RegExp[]
): readonly number[] {
  return patterns.flatMap((pattern) =>
    fields.flatMap(({ name, value }) => {
      const number = pattern.test(name) ? numeric(value) : null
      return number === null ? [] : [number]
    }),
  )
}

/** A number, even as text: "97"; null if no double holds it exactly. */
export function numeric(value: Json | undefined): number | null {
  const isDecimal = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
  const number = isDecimal ? Number(value) : value
  if (typeof number !== 'number') return null
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null
}

/** The first text that has digits and is no number, at a name that matches: `1,499`; null without one. */
export function unreadableNamed(
  fields: readonly Field[],
  ...patterns: readonly RegExp[]
): string | null {
  const texts = patterns.flatMap((pattern) =>
    fields.flatMap(({ name, value }) =>
      pattern.test(name) && typeof value === 'string' && /\d/.test(value) && numeric(value) === null
        ? [value]
        : [],
    ),
  )
  return texts[0] ?? null
}

/** The first text whose name matches. */
export function textNamed(fields: readonly Field[], pattern: RegExp): string | null {
  const found = fields.find(({ name, value }) => pattern.test(name) && typeof value === 'string')
  return (found?.value as string | undefined) ?? null
}

/** The response's name for the time zone of its days and hours. */
export function timeZoneNamed(fields: readonly Field[]): string | null {
  return textNamed(fields, /^(?:time_?zone|tz|zone)$/)
}
