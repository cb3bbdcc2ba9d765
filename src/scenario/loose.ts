import { type JsonObject, objectOf } from '../user/json.ts'

/** Parts of a scenario as written, before it is checked: any may be missing or wrong. */
export const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const entries = (value: unknown): readonly (readonly [string, JsonObject])[] =>
  Object.entries(objectOf(value)).map(([name, item]) => [name, objectOf(item)])

export const namesIn = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : items(value)).filter((name) => typeof name === 'string')
