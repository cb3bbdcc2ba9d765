import { isObject } from '../user/json.ts'

/** `cost_credits` as `costCredits`, at any depth. */
export function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelKeys(inner),
    ]),
  )
}

/** `costCredits` as `cost_credits`. */
export const snake = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Merges mappings field by field, and replaces everything else. */
export function merged(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over === undefined ? base : over
  const fields = { ...base } as Record<string, unknown>
  for (const [key, value] of Object.entries(over)) {
    if (Object.hasOwn(Object.prototype, key)) continue
    fields[key] = merged(base[key], value)
  }
  return fields
}

/** Sections and their fields that are null are left out. Deeper, null is a value: a band without an end. */
export function withoutNulls(value: unknown, depth = 2): unknown {
  if (!isObject(value) || depth === 0) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === null ? [] : [[key, withoutNulls(inner, depth - 1)]],
    ),
  )
}

/** The value at a path; undefined without one. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const part of path) at = (at as Record<PropertyKey, unknown> | undefined)?.[part]
  return at
}
