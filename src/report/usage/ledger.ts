import type { Grant } from '../../contract/grant.ts'
import {
  add,
  compare,
  decimalText,
  isEqual,
  isZero,
  larger,
  negate,
  numberOf,
  type Rational,
  smaller,
  subtract,
  zero,
} from '../../money/rational.ts'
import { type Arithmetic, kindsOf, Payers } from './payers.ts'

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
  /** The models whose use it pays for; null for all use. */
  readonly models: readonly string[] | null
}

/** Credits that were taken from an account without being used: they expired, or were taken back. */
export interface Taken {
  /** Unix microseconds. */
  readonly atUs: number
  readonly credits: Rational
  /** The place of the lot they are taken from; null for those that state no expiry, the first in burn order first. */
  readonly lot: number | null
}

/** What an account got, and in which order it is used. */
export interface Holdings {
  /** Of its lots, and of the use that they pay for: `credits`, or a currency. */
  readonly unit: string
  readonly lots: readonly Lot[]
  /** None if absent. */
  readonly taken?: readonly Taken[]
  readonly burnOrder: BurnOrder
  /** When the balance among the lots was so, Unix microseconds; null without one. */
  readonly asOfUs: number | null
}

/** What was used between two of `ledgerTimes`, less refunds. */
export interface LedgerUse {
  /** 0 is before the first of the times. */
  readonly segment: number
  /** Null for use of no model that a lot names. */
  readonly model: string | null
  readonly credits: Rational
}

export const burnOrders = ['expiry', 'purchase'] as const
/** Which of several lots is used first: the one that expires first, or the one that was bought first. */
export type BurnOrder = (typeof burnOrders)[number]

/** What became of a lot. `used`, `left` and `expired` add up to its credits; what was taken from it is expired. */
export interface LotState {
  readonly lot: Lot
  readonly used: Rational
  readonly left: Rational
  /** Unused when it expired, or taken before. */
  readonly expired: Rational
  /** Whether it has begun and not expired. */
  readonly isHeld: boolean
}

/** Credits of an account at a moment. `used` and `left` add up to `held`. */
export interface Ledger {
  /** Of the lots that have begun and not expired, less what was taken from them. */
  readonly held: Rational
  /** Of what is held. */
  readonly used: Rational
  readonly left: Rational
  /** Of lots that are over: what they held and nobody used; and what was taken from others. */
  readonly expired: Rational
  /** Use that no lot covered; below 0 for refunds of more than was used. */
  readonly uncovered: Rational
  /** In the order of the settings, those that have begun. */
  readonly lots: readonly LotState[]
  /** What may still pay, for a forecast. */
  readonly grants: readonly Grant[]
}

const startOf = ({ fromUs }: Lot) => fromUs ?? Number.NEGATIVE_INFINITY
const endOf = ({ expiresUs }: Lot) => expiresUs ?? Number.POSITIVE_INFINITY

/** The times at which other credits are held, rising: use between two of them may be summed. Unix microseconds. */
export function ledgerTimes(lots: readonly Lot[], taken: readonly Taken[] = []): readonly number[] {
  const times = [
    ...lots.flatMap(({ fromUs, expiresUs }) => [fromUs, expiresUs]),
    ...taken.map(({ atUs }) => atUs),
  ]
  return [...new Set(times)].filter((us) => us !== null).sort((a, b) => a - b)
}

/**
 * SQL over rows of quarters for what use is summed by: `segment`, the number of `ledgerTimes` before it, and `named`, its model if a lot names
 * it. Both engines read it.
 *
 * @param models SQL for the list of `namedModels`
 */
export function usesBy({ lots, taken }: Pick<Holdings, 'lots' | 'taken'>, models: string) {
  const begun = ledgerTimes(lots, taken).map(
    (us) => `CASE WHEN first_us >= ${us} THEN 1 ELSE 0 END`,
  )
  return {
    segment: `CAST(${['0', ...begun].join(' + ')} AS INTEGER)`,
    named: `CASE WHEN has(${models}, coalesce(model, '')) THEN model END`,
  }
}

const exactly: Arithmetic<Rational> = {
  zero,
  add,
  subtract,
  isAboveZero: (a) => compare(a, zero) > 0,
  least: smaller,
}

/**
 * Takes use from lots in the order in which they burn, as `Payers` do: each pays for the use of its models from its start until it
 * expires, and use that no lot pays for is not made up for by later ones. What is taken is taken before the use that follows. Refunds are first offset against the use of their period
 * and kind, then pay for uncovered use of the kind, then go back to the open lots for the kind that were used last.
 *
 * @param uses sums of each segment and model; of no segment more than one of a model
 * @param nowUs Unix microseconds; later use must not be in `uses`
 */
export function ledgerOf(
  lots: readonly Lot[],
  uses: readonly LedgerUse[],
  order: BurnOrder,
  nowUs: number,
  taken: readonly Taken[] = [],
): Ledger {
  const times = ledgerTimes(lots, taken)
  const inOrder = burnOrderOf(lots, order)
  const { of, pays } = kindsOf(lots)
  const all = lots.map(({ credits }) => credits)
  const payers = new Payers(exactly, all, inOrder, pays)
  /** Of each lot, what was taken from it. */
  const lost = lots.map(() => zero)
  const usedOf = (lot: number) => subtract(subtract(all[lot]!, lost[lot]!), payers.left[lot]!)
  const sums = Array.from({ length: times.length + 1 }, () => pays.map(() => zero))
  for (const { segment, model, credits } of uses) {
    const kind = of.get(model) ?? of.get(null)!
    sums[segment]![kind] = add(sums[segment]![kind]!, credits)
  }
  /** By kind; below 0 for refunds of more than was used. */
  let uncovered: readonly Rational[] = pays.map(() => zero)
  for (const [segment, amounts] of sums.entries()) {
    const atUs = segment === 0 ? Number.NEGATIVE_INFINITY : times[segment - 1]!
    if (atUs > nowUs) break
    const isOpen = lots.map((lot) => startOf(lot) <= atUs && endOf(lot) > atUs)
    payers.begin(isOpen)
    for (const { credits, lot } of taken.filter((each) => each.atUs === atUs)) {
      const from = lot === null ? inOrder.filter((at) => lots[at]!.expiresUs === null) : [lot]
      let due = credits
      for (const at of from.filter((each) => isOpen[each])) {
        const moved = smaller(due, payers.left[at]!)
        lost[at] = add(lost[at]!, moved)
        payers.left[at] = subtract(payers.left[at]!, moved)
        due = subtract(due, moved)
      }
    }
    // A refund beyond all use is used first.
    const due = amounts.map((amount, kind) => add(amount, smaller(uncovered[kind]!, zero)))
    const before = uncovered.map((amount) => larger(amount, zero))
    const used = new Payers(
      exactly,
      all.map((_, lot) => usedOf(lot)),
      inOrder.toReversed(),
      pays,
    )
    used.begin(isOpen)
    const afterRefunds = before.map((amount, kind) => {
      const refund = larger(negate(due[kind]!), zero)
      const rest = subtract(refund, smaller(refund, amount))
      return subtract(larger(subtract(amount, refund), zero), used.take(kind, rest))
    })
    for (const [lot, credits] of all.entries())
      payers.left[lot] = subtract(subtract(credits, lost[lot]!), used.left[lot]!)
    uncovered = afterRefunds.map((amount, kind) =>
      add(amount, payers.take(kind, larger(due[kind]!, zero))),
    )
  }
  /** A model of each kind. */
  const nameOf = new Map([...of].map(([model, kind]) => [kind, model]))
  const states = lots.flatMap((lot, at): readonly LotState[] => {
    if (startOf(lot) > nowUs) return []
    const isHeld = endOf(lot) > nowUs
    const rest = payers.left[at]!
    const [kept, expired] = isHeld ? [rest, lost[at]!] : [zero, add(rest, lost[at]!)]
    return [{ lot, used: usedOf(at), left: kept, expired, isHeld }]
  })
  const held = states.filter(({ isHeld }) => isHeld)
  return {
    held: sumOf(held.map((each) => add(each.used, each.left))),
    used: sumOf(held.map((each) => each.used)),
    left: sumOf(held.map((each) => each.left)),
    expired: sumOf(states.map((each) => each.expired)),
    uncovered: sumOf(uncovered),
    lots: states,
    grants: lots.flatMap((lot, at): readonly Grant[] => {
      const paid = payers.paid.map((each, kind) => ({
        model: nameOf.get(kind)!,
        credits: numberOf(each[at]!),
      }))
      const credits = numberOf(payers.left[at]!)
      if (endOf(lot) <= nowUs) return []
      // A lot with nothing left may hand over what it paid, and its end still begins a period.
      const isNothing = credits === 0 && paid.every((each) => each.credits === 0)
      const begins = pays.length > 1 && (lot.expiresUs !== null || startOf(lot) > nowUs)
      if (isNothing && !begins) return []
      const fromUs = startOf(lot) > nowUs ? lot.fromUs : null
      const { name, expiresUs, models } = lot
      return [{ name, credits, fromUs, expiresUs, rank: inOrder.indexOf(at), models, paid }]
    }),
  }
}

/** A ledger as exact decimals: of each grant that is held, and of all of them, `used` and `remaining` add up. */
export interface CreditsHeld {
  /** Of grants that have begun and not expired. */
  readonly held: string
  readonly used: string
  readonly remaining: string
  /** Of grants that are over: what nobody used; and what was taken from others. */
  readonly expired: string
  /** Use that no grant covered; below 0 for refunds of more than was used. */
  readonly uncovered: string
  readonly grants: readonly {
    readonly name: string
    readonly credits: string
    readonly used: string
    readonly remaining: string
    /** Unix microseconds; null for before all use. */
    readonly fromUs: number | null
    /** Null if it never expires. */
    readonly expiresUs: number | null
    /** The models whose use it pays for; null for all use. */
    readonly models: readonly string[] | null
  }[]
}

export const creditsHeld = ({
  held,
  used,
  left,
  expired,
  uncovered,
  lots,
}: Ledger): CreditsHeld => ({
  held: decimalText(held),
  used: decimalText(used),
  remaining: decimalText(left),
  expired: decimalText(expired),
  uncovered: decimalText(uncovered),
  grants: lots
    // One that was taken back whole is no grant any more.
    .filter(
      ({ isHeld, lot, expired }) => isHeld && !(isEqual(expired, lot.credits) && !isZero(expired)),
    )
    .map(({ lot: { name, fromUs, expiresUs, models }, ...each }) => ({
      ...{ name, credits: decimalText(add(each.used, each.left)), used: decimalText(each.used) },
      ...{ remaining: decimalText(each.left), fromUs, expiresUs, models },
    })),
})

function burnOrderOf(lots: readonly Lot[], order: BurnOrder): readonly number[] {
  const byExpiry = (a: number, b: number) => endOf(lots[a]!) - endOf(lots[b]!) || 0
  const byStart = (a: number, b: number) => startOf(lots[a]!) - startOf(lots[b]!) || 0
  const [first, then] = order === 'expiry' ? [byExpiry, byStart] : [byStart, byExpiry]
  return lots
    .map((_, at) => at)
    .sort((a, b) => lots[a]!.priority - lots[b]!.priority || first(a, b) || then(a, b) || a - b)
}

const sumOf = (values: readonly Rational[]) => values.reduce(add, zero)
