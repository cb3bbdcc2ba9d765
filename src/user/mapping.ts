/** An object of parsed JSON or YAML: no list, and not null. */
export type Mapping = Readonly<Record<string, unknown>>

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Any value as a mapping; one that is none has no fields. */
export const mappingOf = (value: unknown): Mapping => (isMapping(value) ? value : {})
