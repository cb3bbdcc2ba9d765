/**
 * What a usage names beside its counts. A price may depend on each of these, so a contract selects by any of them, and one that
 * it leaves open makes the cost unknown.
 */

/** Names in the deepest place that is read: `a.b.c`. */
const mostSteps = 3

/** The texts, the numbers and the truths of a usage, by their place. */
export function namedIn(usage: object, steps = 1): Readonly<Record<string, string>> {
  const found: [string, string][] = []
  for (const [name, value] of Object.entries(usage)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      found.push([name, String(value)])
    else if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      steps < mostSteps
    )
      for (const [place, inner] of Object.entries(namedIn(value, steps + 1)))
        found.push([`${name}.${place}`, inner])
  }
  return Object.fromEntries(found)
}

/** Values that mean the usual price, whatever the field. */
const usualValues: ReadonlySet<string> = new Set([
  ...['auto', 'default', 'on_demand', 'standard', 'standard_only', 'normal', 'regular'],
  ...['global', 'none', 'not_available', 'unspecified', 'null', 'false', ''],
])

/** Whether a value means the usual price: `standard`, `global`, `ON_DEMAND`. */
export const isUsualValue = (value: string): boolean => usualValues.has(value.toLowerCase())

/**
 * Names that select no price by themselves: what the counts are, the tier (a contract has prices of tiers), Perplexity's
 * `search_context_size`, since a contract that does not select by it has one price for all sizes, and SambaNova's mark of the end.
 */
const describing: ReadonlySet<string> = new Set([
  ...['type', 'object', 'id', 'model', 'currency', 'unit', 'usage_semantic', 'usage_source'],
  ...['service_tier', 'serviceTier', 'cache_type', 'search_context_size', 'is_last_response'],
])

const isAmount = (value: string) => /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value)

/** Names of a usage on which a price may depend, unless a contract says otherwise: `{ speed: 'fast' }`. */
export function selectingNames(
  named: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  return Object.entries(named).filter(([place, value]) => {
    const field = place.split('.').at(-1)!
    return (
      !describing.has(field) && !/_(id|at)$/.test(field) && !isAmount(value) && !isUsualValue(value)
    )
  })
}
