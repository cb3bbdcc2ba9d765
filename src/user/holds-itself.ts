/**
 * Whether a value is part of itself, as an alias of YAML inside its own anchor is. Whoever walks through such a value
 * would never end.
 */
export function holdsItself(
  value: unknown,
  above = new Set<object>(),
  done = new Set<object>(),
): boolean {
  if (typeof value !== 'object' || value === null || done.has(value)) return false
  if (above.has(value)) return true
  above.add(value)
  const found = Object.values(value).some((part) => holdsItself(part, above, done))
  above.delete(value)
  done.add(value)
  return found
}
