import type { Grant } from '../../contract/grant.ts'

/** How a balance declines. */
export interface BurnDown {
  /** When the last credit was spent while demand went on; null if credits last. */
  readonly emptyUs: number | null
  /** When the balance first fell below each threshold; null if never. */
  readonly belowUs: readonly (number | null)[]
  /** Credits of each grant that expired unused. */
  readonly expired: readonly number[]
  /** Credits left of each grant at the end. */
  readonly left: readonly number[]
}

/** A period of even demand. */
export interface Demand {
  readonly startUs: number
  readonly endUs: number
  readonly credits: number
}

/**
 * Spends grants on a demand by their rank, and of one rank the earliest expiry first, which wastes least. Each expiry cuts a period.
 *
 *     balance ▲ ╲
 *             │  ╲___ a grant expires: a step, not a slope
 *             │      ╲
 *             └───────╲──▶ time
 *
 * @param thresholds balances to watch; "below" is strict
 */
export function burnDown(
  grants: readonly Grant[],
  demand: Iterable<Demand>,
  thresholds: readonly number[],
): BurnDown {
  const byExpiry = (a: number, b: number) => expiry(grants[a]!) - expiry(grants[b]!) || 0
  const order = grants
    .map((_, at) => at)
    .sort((a, b) => (grants[a]!.rank ?? 0) - (grants[b]!.rank ?? 0) || byExpiry(a, b))
  const left = grants.map((grant) => grant.credits)
  const expired = grants.map(() => 0)
  const belowUs: (number | null)[] = thresholds.map(() => null)
  let emptyUs: number | null = null
  /** When the balance reached zero, with or without demand. */
  let zeroUs: number | null = null
  let balance = left.reduce((sum, credits) => sum + credits, 0)

  /** Notes a fall from `before` to `balance`, between `startUs` and `endUs`. */
  const noteFall = (before: number, startUs: number, endUs: number) => {
    for (const [at, threshold] of thresholds.entries()) {
      if (belowUs[at] !== null || balance >= threshold) continue
      // Minus infinity without a fall.
      const share = Math.max(0, (before - threshold) / (before - balance))
      belowUs[at] = startUs + share * (endUs - startUs)
    }
  }
  const expireUntil = (us: number) => {
    for (const at of order) {
      if (expiry(grants[at]!) > us || left[at] === 0) continue
      const before = balance
      expired[at]! += left[at]!
      balance -= left[at]!
      left[at] = 0
      if (left.every((credits) => credits === 0)) zeroUs ??= expiry(grants[at]!)
      noteFall(before, us, us)
    }
  }
  const spend = (credits: number, startUs: number, endUs: number) => {
    const before = balance
    let due = credits
    for (const at of order) {
      const taken = Math.min(left[at]!, due)
      left[at]! -= taken
      due -= taken
    }
    const spent = credits - due
    balance = Math.max(0, before - spent)
    const spentUs = credits === 0 ? endUs : startUs + (spent / credits) * (endUs - startUs)
    noteFall(before, startUs, spentUs)
    if (left.every((credits) => credits === 0)) zeroUs ??= spentUs
    // A rounding error is not unmet demand.
    if (due > credits * 1e-12) emptyUs ??= zeroUs
  }

  const expiries = grants.map(expiry).sort((a, b) => a - b)
  for (const { startUs, endUs, credits } of demand) {
    noteFall(balance, startUs, startUs)
    const cuts = expiries.filter((us) => us > startUs && us < endUs)
    let from = startUs
    for (const to of [...cuts, endUs]) {
      expireUntil(from)
      spend((credits * (to - from)) / (endUs - startUs), from, to)
      from = to
    }
    expireUntil(endUs)
    // The balance cannot fall further.
    if (emptyUs !== null) break
  }
  return { emptyUs, belowUs, expired, left }
}

function expiry(grant: Grant): number {
  return grant.expiresUs ?? Number.POSITIVE_INFINITY
}
