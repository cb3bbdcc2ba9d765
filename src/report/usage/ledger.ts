import type { Grant } from '../../contract/grant.ts'
import {
  add,
  compare,
  isZero,
  negate,
  numberOf,
  type Rational,
  subtract,
  zero,
} from '../../money/rational.ts'

/** Credits that an account got at once: a grant, a purchase, or a balance as of a time. */
export interface Lot {
  readonly name: string
  readonly credits: Rational
  /** Unix microseconds; null for before all use. */
  readonly fromUs: number | null
  /** Null if they never expire. */
  readonly expiresUs: number | null
  /** Lots of a lower number are used first. */
  readonly priority: number
}

export const burnOrders = ['expiry', 'purchase'] as const
/** Which of several lots is used first: the one that expires first, or the one that was bought first. */
export type BurnOrder = (typeof burnOrders)[number]

/** What became of a lot. `used`, `left` and `expired` add up to its credits. */
export interface LotState {
  readonly lot: Lot
  /** Its place in the order in which lots burn. */
  readonly rank: number
  readonly used: Rational
  readonly left: Rational
  /** Unused when it expired. */
  readonly expired: Rational
  /** Whether it has begun and not expired. */
  readonly isHeld: boolean
}

/** Credits of an account at a moment. `used` and `left` add up to `held`. */
export interface Ledger {
  /** Of the lots that have begun and not expired. */
  readonly held: Rational
  /** Of what is held. */
  readonly used: Rational
  readonly left: Rational
  /** Of lots that are over: what they held and nobody used. */
  readonly expired: Rational
  /** Use that no lot covered; below 0 for refunds of more than was used. */
  readonly uncovered: Rational
  /** In the order of the settings, those that have begun. */
  readonly lots: readonly LotState[]
}

const startOf = ({ fromUs }: Lot) => fromUs ?? Number.NEGATIVE_INFINITY
const endOf = ({ expiresUs }: Lot) => expiresUs ?? Number.POSITIVE_INFINITY

/** The times at which other lots hold, rising: use between two of them may be summed. Unix microseconds. */
export function ledgerTimes(lots: readonly Lot[]): readonly number[] {
  const times = lots.flatMap(({ fromUs, expiresUs }) => [fromUs, expiresUs])
  return [...new Set(times)].filter((us) => us !== null).sort((a, b) => a - b)
}

/**
 * Takes use from lots in the order in which they burn. A lot is used from its start until it expires; use that no lot
 * covers is not made up for by later ones. A refund gives back to the lots that were used last.
 *
 * @param used credits used, less refunds, from each time of `ledgerTimes` until the next; the first entry is of before
 * @param nowUs Unix microseconds; later use must not be in `used`
 */
export function ledgerOf(
  lots: readonly Lot[],
  used: readonly Rational[],
  order: BurnOrder,
  nowUs: number,
): Ledger {
  const times = ledgerTimes(lots)
  const byExpiry = (a: number, b: number) => endOf(lots[a]!) - endOf(lots[b]!) || 0
  const byStart = (a: number, b: number) => startOf(lots[a]!) - startOf(lots[b]!) || 0
  const [first, then] = order === 'expiry' ? [byExpiry, byStart] : [byStart, byExpiry]
  const inOrder = lots
    .map((_, at) => at)
    .sort((a, b) => lots[a]!.priority - lots[b]!.priority || first(a, b) || then(a, b) || a - b)
  const left = lots.map(({ credits }) => credits)
  let uncovered = zero
  for (const [segment, amount] of used.entries()) {
    const atUs = segment === 0 ? Number.NEGATIVE_INFINITY : times[segment - 1]!
    if (atUs > nowUs) break
    const open = inOrder.filter((at) => startOf(lots[at]!) <= atUs && endOf(lots[at]!) > atUs)
    // A refund beyond all use is used first.
    let due = compare(uncovered, zero) < 0 ? add(amount, uncovered) : amount
    if (compare(uncovered, zero) < 0) uncovered = zero
    if (compare(due, zero) < 0) {
      const paid = least(negate(due), uncovered)
      uncovered = subtract(uncovered, paid)
      due = add(due, paid)
      for (const at of open.toReversed()) {
        const back = least(negate(due), subtract(lots[at]!.credits, left[at]!))
        left[at] = add(left[at]!, back)
        due = add(due, back)
      }
    } else {
      for (const at of open) {
        const taken = least(due, left[at]!)
        left[at] = subtract(left[at]!, taken)
        due = subtract(due, taken)
      }
    }
    uncovered = add(uncovered, due)
  }
  const states = lots.flatMap((lot, at): readonly LotState[] => {
    if (startOf(lot) > nowUs) return []
    const isHeld = endOf(lot) > nowUs
    const rest = left[at]!
    const [kept, expired] = isHeld ? [rest, zero] : [zero, rest]
    return [
      {
        lot,
        rank: inOrder.indexOf(at),
        used: subtract(lot.credits, rest),
        left: kept,
        expired,
        isHeld,
      },
    ]
  })
  const held = states.filter(({ isHeld }) => isHeld)
  return {
    held: sumOf(held.map(({ lot }) => lot.credits)),
    used: sumOf(held.map((each) => each.used)),
    left: sumOf(held.map((each) => each.left)),
    expired: sumOf(states.map((each) => each.expired)),
    uncovered,
    lots: states,
  }
}

/** What is left, for a forecast. */
export const grantsLeft = ({ lots }: Ledger): readonly Grant[] =>
  lots.flatMap(({ lot, rank, left, isHeld }) =>
    isHeld && !isZero(left)
      ? [{ name: lot.name, credits: numberOf(left), expiresUs: lot.expiresUs, rank }]
      : [],
  )

const least = (a: Rational, b: Rational) => (compare(a, b) < 0 ? a : b)
const sumOf = (values: readonly Rational[]) => values.reduce(add, zero)
