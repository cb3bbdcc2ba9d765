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
 * @param known its path, where a differential has told it; else the first leaf named after it, or in a
 *   group of that name
 */
export function remainingIn(
  leaves: ReadonlyMap<string, number>,
  known: string | null,
): number | null {
  if (known !== null) return leaves.get(known) ?? null
  for (const name of [/(?:remaining|left)[^.]*$/i, /balance[^.]*$/i, /remaining|balance|left/i]) {
    for (const [path, value] of leaves) if (name.test(path)) return value
  }
  return null
}
