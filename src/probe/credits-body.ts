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
 * Fields by how they moved from each body to the next.
 *
 * @param figures how much each figure moved at each step; where two moved alike, the fields that did are
 *   either's
 */
export function fieldsThatMoved(
  bodies: readonly ReadonlyMap<string, number>[],
  figures: Readonly<Record<string, readonly number[]>>,
): Readonly<Record<string, readonly string[] | { readonly oneOf: readonly string[] }>> {
  const all = Object.values(figures)
  return Object.fromEntries(
    Object.entries(figures).map(([figure, steps]) => {
      const fields = movedBy(bodies, steps)
      const isTie = all.filter((other) => `${other}` === `${steps}`).length > 1
      return [figure, isTie && fields.length > 0 ? { oneOf: fields } : fields]
    }),
  )
}

/** Paths of the numbers that moved by so much at each step from one body to the next. */
export function movedBy(
  bodies: readonly ReadonlyMap<string, number>[],
  steps: readonly number[],
): readonly string[] {
  const paths = [...(bodies.at(-1)?.keys() ?? [])].filter((path) => !isName(path))
  return paths.filter((path) =>
    steps.every(
      (step, nth) => (bodies[nth + 1]!.get(path) ?? 0) - (bodies[nth]!.get(path) ?? 0) === step,
    ),
  )
}

/** Numbers of rows grow with the requests, too: a list with the newest entry first counts nothing by them. */
function isName(path: string): boolean {
  return /(?:^|[._])id$/i.test(path)
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
