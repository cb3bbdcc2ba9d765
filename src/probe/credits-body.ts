import { numeric } from '../credits/fields.ts'

/** A figure is nowhere deeper than this. A document may be nested as deeply as it is long, and the stack is not. */
const mostDepth = 50

/** Every number in a JSON document, also one that is written as text, by its path: `usage.by_day.0.credits`. */
export function leavesOf(json: unknown): ReadonlyMap<string, number> {
  const leaves = new Map<string, number>()
  const walk = (value: unknown, path: readonly string[]) => {
    const number = numeric(value)
    if (number !== null) leaves.set(path.join('.'), number)
    else if (typeof value === 'object' && value !== null && path.length < mostDepth) {
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name])
    }
  }
  walk(json, [])
  return leaves
}

/** Finds fields by their changes from each body to the next; `figures` that changed alike each get both as `oneOf`. */
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

/** A balance with a fraction changes by an amount that is a double, too. */
const rounding = 1e-6

/** Paths of numbers that changed by the given amount at each step. */
export function movedBy(
  bodies: readonly ReadonlyMap<string, number>[],
  steps: readonly number[],
): readonly string[] {
  const paths = [...(bodies.at(-1)?.keys() ?? [])].filter((path) => !isName(path))
  return paths.filter((path) =>
    steps.every((step, nth) => {
      const change = (bodies[nth + 1]!.get(path) ?? 0) - (bodies[nth]!.get(path) ?? 0)
      return Math.abs(change - step) < rounding
    }),
  )
}

/** Ids of rows grow with the requests, too: in a list with the newest row first they look like a counter. */
const isName = (path: string): boolean => /(?:^|[._])id$/i.test(path)
