/**
 * How much a cause assumes beside the contract. The simplest cause is told:
 *
 * 1. one that right amounts do not contradict,
 * 2. then one with the fewest free numbers: a price, a fee, a rate or a moment that was fitted to the wrong amounts, and that the contract
 *    does not have,
 * 3. then one of the likelier kind: a known mechanism before a number that only fits,
 * 4. then one that would have changed the fewest right amounts.
 *
 * `cache_read also charged as input` has no free number. `0.0087 more for each request, from 12:00 on` has two.
 */
export interface Simplicity {
  /** Whether right amounts contradict it. */
  readonly isContradicted: boolean
  /** Numbers that were fitted to the wrong amounts. */
  readonly numbers: number
  /** The place of its kind among all kinds: the likelier ones come first. */
  readonly kind: number
  /** Right amounts that it would have changed, if nothing told them apart. */
  readonly spares: number
}

/** The simpler one comes first. */
export const bySimplicity = (a: Simplicity, b: Simplicity): number =>
  Number(a.isContradicted) - Number(b.isContradicted) ||
  a.numbers - b.numbers ||
  a.kind - b.kind ||
  a.spares - b.spares

/** One kind of cause, and how to find those of it. */
export interface Kind<Cause> {
  /** The fewest free numbers that one of them has. */
  readonly numbers: number
  readonly find: () => readonly Cause[]
}

/**
 * The simplest causes of all kinds, which assume equally much. A kind is not looked at if no cause of it can be simpler than what was found.
 *
 * @param kinds the likelier ones first among those with as many free numbers
 * @param simplicityOf without the place of the kind
 */
export function simplestOf<Cause>(
  kinds: readonly Kind<Cause>[],
  simplicityOf: (cause: Cause) => Omit<Simplicity, 'kind'>,
): readonly Cause[] {
  let best: readonly { readonly cause: Cause; readonly of: Simplicity }[] = []
  const ordered = kinds.toSorted((a, b) => a.numbers - b.numbers)
  for (const [kind, { numbers, find }] of ordered.entries()) {
    const [first] = best
    if (first !== undefined && !first.of.isContradicted && first.of.numbers <= numbers) break
    const found = find().map((cause) => ({ cause, of: { ...simplicityOf(cause), kind } }))
    const sorted = [...best, ...found].toSorted((a, b) => bySimplicity(a.of, b.of))
    best = sorted.filter(({ of }) => bySimplicity(of, sorted[0]!.of) === 0)
  }
  return best.map(({ cause }) => cause)
}
