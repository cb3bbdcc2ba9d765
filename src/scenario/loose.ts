/** A scenario as written, before it is checked: any part may be missing or wrong. */

/** An unchecked mapping. */
export type Loose = Readonly<Record<string, unknown>>

/** Any value as a mapping; one that is not a mapping has no fields. */
export const loose = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}

export const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const entries = (value: unknown): readonly (readonly [string, Loose])[] =>
  Object.entries(loose(value)).map(([name, item]) => [name, loose(item)])
