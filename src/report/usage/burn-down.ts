import type { Grant } from '../../contract/grant.ts'
import { type Arithmetic, kindsOf, Payers } from './payers.ts'

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

/** Who is told what is left at some moments, the earliest first. It is told of all that lie within the demand, also after the credits ran out. */
export interface BalanceWatch {
  readonly atUs: readonly number[]
  note(at: number, balance: number): void
}

/** A period of even demand. */
export interface Demand {
  readonly startUs: number
  readonly endUs: number
  readonly credits: number
}

/** The part of all demand that is of a model; null is of those that no grant names. */
export interface ModelShare {
  readonly model: string | null
  readonly share: number
}

const quickly: Arithmetic<number> = {
  zero: 0,
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  isAboveZero: (a) => a > 0,
  least: Math.min,
}
/** A rounding error is not unmet demand. */
const roundingShare = 1e-12
/** How exactly the moment is searched at which demand is first unmet: a day by 2 ** 40. */
const halvings = 40

/**
 * Spends grants on a demand by their rank, and of one rank the earliest expiry first, which wastes least. Each start and end of a grant
 * begins a new period, also if nothing is left of it; `Payers` says which grant pays for which model within a period.
 *
 *     balance ▲ ╲
 *             │  ╲___ a grant expires: a step, not a slope
 *             │      ╲
 *             └───────╲──▶ time
 *
 * @param thresholds balances to watch; "below" is strict
 * @param mix what the demand is of; default: of no model that a grant names
 * @param watch default: nobody
 */
export function burnDown(
  grants: readonly Grant[],
  demand: Iterable<Demand>,
  thresholds: readonly number[],
  mix: readonly ModelShare[] = [{ model: null, share: 1 }],
  watch: BalanceWatch | null = null,
): BurnDown {
  const byExpiry = (a: number, b: number) => expiry(grants[a]!) - expiry(grants[b]!) || 0
  const order = grants
    .map((_, at) => at)
    .sort((a, b) => (grants[a]!.rank ?? 0) - (grants[b]!.rank ?? 0) || byExpiry(a, b))
  const { of, pays } = kindsOf(grants)
  const kindOf = (model: string | null) => of.get(model) ?? of.get(null)!
  const shares = pays.map((_, kind) =>
    mix.reduce((sum, { model, share }) => sum + (kindOf(model) === kind ? share : 0), 0),
  )
  const payers = new Payers(
    quickly,
    grants.map(({ credits }) => credits),
    order,
    pays,
  )
  const { left } = payers
  const isOpen = grants.map((grant) => start(grant) === Number.NEGATIVE_INFINITY)
  const paid = pays.map((_, kind) =>
    grants.map((grant) =>
      (grant.paid ?? []).reduce(
        (sum, { model, credits }) => sum + (kindOf(model) === kind ? credits : 0),
        0,
      ),
    ),
  )
  payers.begin(isOpen, paid)
  const expired = grants.map(() => 0)
  const belowUs: (number | null)[] = thresholds.map(() => null)
  let emptyUs: number | null = null
  /** When the balance reached zero, with or without demand. */
  let zeroUs: number | null = null
  let balance = left.reduce((sum, credits, at) => sum + (isOpen[at] ? credits : 0), 0)
  const isSpent = () => left.every((credits, at) => !isOpen[at] || credits === 0)

  /** Once the credits ran out: what comes later is for the watch alone, and needs no exact moment. */
  let ended: BurnDown | null = null
  let watched = 0
  /** Tells what is left at the moments before an end, of an even fall from `before` to `balance`, which ends at `lowUs`. */
  const tell = (before: number, startUs: number, lowUs: number, endUs: number) => {
    if (watch === null) return
    for (; (watch.atUs[watched] ?? Infinity) < endUs; watched++) {
      const share = Math.min(1, (watch.atUs[watched]! - startUs) / Math.max(1, lowUs - startUs))
      watch.note(watched, before - Math.max(0, share) * (before - balance))
    }
  }
  /** Notes a fall from `before` to `balance`, between `startUs` and `endUs`. */
  const noteFall = (before: number, startUs: number, endUs: number) => {
    for (const [at, threshold] of thresholds.entries()) {
      if (belowUs[at] !== null || balance >= threshold) continue
      // Minus infinity without a fall.
      const share = Math.max(0, (before - threshold) / (before - balance))
      belowUs[at] = startUs + share * (endUs - startUs)
    }
  }
  const change = (us: number) => {
    const before = balance
    let isChanged = false
    for (const at of order) {
      const grant = grants[at]!
      if (isOpen[at] && expiry(grant) <= us) {
        isOpen[at] = false
        isChanged = true
        if (left[at] === 0) continue
        expired[at]! += left[at]!
        balance -= left[at]!
        left[at] = 0
        if (isSpent()) zeroUs ??= expiry(grant)
      } else if (!isOpen[at] && start(grant) <= us && expiry(grant) > us) {
        isOpen[at] = true
        isChanged = true
        balance += left[at]!
        if (left[at]! > 0) zeroUs = null
      }
    }
    if (!isChanged) return
    payers.begin(isOpen)
    noteFall(before, us, us)
  }
  const spend = (credits: number, startUs: number, endUs: number) => {
    const before = balance
    const trial = pays.length > 1 && ended === null ? payers.copy() : null
    let due = 0
    for (const [kind, share] of shares.entries()) due += payers.take(kind, credits * share)
    const isUnmet = due > credits * roundingShare
    const spent = credits - due
    balance = Math.max(0, before - spent)
    const met = trial !== null && isUnmet ? metShare(trial, credits, shares) : spent / credits
    const spentUs = credits === 0 ? endUs : startUs + met * (endUs - startUs)
    noteFall(before, startUs, trial === null ? spentUs : endUs)
    tell(before, startUs, trial === null ? spentUs : endUs, endUs)
    if (isSpent()) zeroUs ??= spentUs
    if (isUnmet) emptyUs ??= zeroUs ?? spentUs
  }

  const edges = [...new Set(grants.flatMap((grant) => [start(grant), expiry(grant)]))].sort(
    (a, b) => a - b,
  )
  for (const { startUs, endUs, credits } of demand) {
    noteFall(balance, startUs, startUs)
    const cuts = edges.filter((us) => us > startUs && us < endUs)
    let from = startUs
    for (const to of [...cuts, endUs]) {
      change(from)
      spend((credits * (to - from)) / (endUs - startUs), from, to)
      from = to
    }
    change(endUs)
    if (emptyUs === null) continue
    ended ??= { emptyUs, belowUs: [...belowUs], expired: [...expired], left: [...left] }
    if (watch === null || watched >= watch.atUs.length) break
    if (balance === 0 && edges.every((us) => us === Number.POSITIVE_INFINITY || us <= endUs)) {
      tell(0, endUs, endUs, Infinity)
      break
    }
  }
  return ended ?? { emptyUs, belowUs, expired, left }
}

/** The part of a demand, even over its models, that is met before one of them is not. */
function metShare(before: Payers<number>, credits: number, shares: readonly number[]): number {
  let [low, high] = [0, 1]
  for (let step = 0; step < halvings; step++) {
    const middle = (low + high) / 2
    const trial = before.copy()
    const due = shares.reduce(
      (sum, share, kind) => sum + trial.take(kind, credits * share * middle),
      0,
    )
    if (due > credits * roundingShare) high = middle
    else low = middle
  }
  return low
}

const expiry = (grant: Grant) => grant.expiresUs ?? Number.POSITIVE_INFINITY
const start = (grant: Grant) => grant.fromUs ?? Number.NEGATIVE_INFINITY
