/** Every number in a JSON document, by its path: `usage.by_day.0.credits`. */
export function leavesOf(json: unknown): ReadonlyMap<string, number> {
  const leaves = new Map<string, number>()
  const walk = (value: unknown, path: string) => {
    if (typeof value === 'number') leaves.set(path, value)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        walk(inner, path === '' ? name : `${path}.${name}`)
      }
    }
  }
  walk(json, '')
  return leaves
}

/**
 * The remaining credits of a body.
 *
 * @param known its path, where a differential has told it; else the first leaf named after it
 */
export function remainingIn(
  leaves: ReadonlyMap<string, number>,
  known: string | null,
): number | null {
  if (known !== null) return leaves.get(known) ?? null
  for (const [path, value] of leaves) if (/remaining|balance|left/i.test(path)) return value
  return null
}
