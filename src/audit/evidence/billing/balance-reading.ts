import type { Credits } from '../../../contract/contract.ts'
import { smallest } from '../../../user/extremes.ts'
import { once } from '../../../user/once.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import { type Abandoned, fewAmbiguous, readAbandoned } from './abandoned/read.ts'
import { type BoundsReading, readBounds } from './bounds.ts'
import { type IntervalReading, readIntervals } from './charge-intervals.ts'
import { type Conservation, readConservation, type Stretch } from './conservation.ts'
import { type Gift, withoutGifts } from './gifts.ts'
import { type HeaderMeaning, includesOwnCharge, possibleMeanings } from './header-meaning.ts'
import { type BalanceHistory, effects } from './history.ts'
import { placesOf } from './location.ts'
import { type Majorization, readMajorization } from './majorization.ts'
import type { Operations } from './operations.ts'
import type { PageContradiction } from './page-contradiction.ts'
import type { Place } from './place.ts'

/**
 * The conclusions from all values of one account.
 *
 * The meaning of the header is unknown, so each legal meaning is tried, the most specific first. A history is at fault
 * only if none explains it.
 *
 *     exact    every value shows the balance right after (or before) its own charge: tier 3
 *     loose    values are honest but taken a moment earlier or later, or requests hold credits that
 *              they give back: tiers 1 and 2
 *     late     charges settle some time after their response
 *     none     no legal service shows these values
 */
export interface BalanceReading extends Omit<Abandoned, 'openCredits'> {
  readonly history: BalanceHistory
  /** Number of values. */
  readonly observations: number
  readonly charges: number
  readonly ambiguous: number
  readonly meaning: HeaderMeaning
  /** All meanings that the header may have. */
  readonly meanings: readonly HeaderMeaning[]
  /** Whether the values are exact if the header has another meaning. */
  readonly isExactAs: (meaning: HeaderMeaning) => boolean
  readonly fits: 'exact' | 'loose' | 'late' | 'none'
  /** Delay of charges after the response, for `late`. */
  readonly settleUs: number
  /** Why fitting values do not prove that every charge was right; null without such a reason. */
  readonly doubt: string | null
  readonly conservation: Conservation
  /** Credits that came in during the run. Tiers 1 to 3 read the values without them. */
  readonly gifts: readonly Gift[]
  /** The size of a rise among the gifts that neither a charge nor the contract explains; absent without one. */
  readonly unknownRise?: Credits
  /** Values of the credits page that the headers contradict, which are then left out; absent without any. */
  readonly pageAgainst?: readonly PageContradiction[]
  readonly intervals: IntervalReading
  /** Possible places of the unexplained credits, likeliest first; empty if a conflict has only one place. */
  readonly places: () => readonly Place[]
  /** Tiers 2 and 1, computed on demand: if tier 3 fits, nobody needs them. */
  readonly bounds: () => BoundsReading
  readonly majorization: () => Majorization
}

/** Delays to try for late settlement. 0 is a header that is merely stale. */
const gracesUs = [0, 0.1e6, 0.5e6, 1e6, 2e6, 5e6, 10e6, 30e6, 60e6]

/**
 * @param giftSizes credits that may come in at once by the contract: packages and grants
 * @param policy what aborted requests cost by the profile; null if unknown
 */
export function readBalance(
  history: BalanceHistory,
  giftSizes: readonly Credits[] = [],
  policy: KnownPolicy | null = null,
): BalanceReading {
  const meanings = possibleMeanings(history)
  const asShown = best(
    eachMeaning(meanings, (meaning) => readAs(history, meaning, meanings, policy)),
  )
  if (asShown.fits === 'exact') return asShown
  const reading = withGifts(history, asShown, giftSizes, policy)
  if (fitsWithGifts(reading)) return reading
  // A rise of another size is no charge; it may be a purchase that the contract does not name.
  if (asShown.charges === 0) return reading
  for (const rise of risesOf(asShown).filter((each) => mayBeAdded(each, giftSizes))) {
    const risen = withGifts(history, asShown, [...giftSizes, rise], policy)
    if (fitsWithGifts(risen) && risen.gifts.some((gift) => gift.credits === rise))
      return { ...risen, unknownRise: rise }
  }
  return reading
}

/**
 * Whether somebody may have added so many credits: a rise like those that the contract sells and grants, but none of
 * them; of a contract without any, one that no few wrong charges give.
 */
export function mayBeAdded(rise: Credits, giftSizes: readonly Credits[]): boolean {
  const isNamed = giftSizes.some((size) => Math.abs(size - rise) <= nearGift)
  const least = giftSizes.length === 0 ? 2 * nearGift : smallest(giftSizes)
  return rise * 2 > least && !isNamed
}

/** A rise this near to a package may be one beside a wrong charge. */
export const nearGift: Credits = 20

/** Abandoned requests of more credits leave the size of a rise too open. */
const mostOpen: Credits = 40

/** What the largest rise between two idle values may be: abandoned requests may have cost something beside it. */
function risesOf({ conservation: { stretches } }: BalanceReading): readonly Credits[] {
  const [largest] = stretches.toSorted((a, b) => a.excess - b.excess)
  if (largest === undefined || largest.ambiguous > mostOpen) return []
  const least = -largest.excess
  return Array.from({ length: largest.ambiguous + 1 }, (_, at) => least + at)
}

/** Whether so many credits that came in explain a stretch, whatever its abandoned requests cost. */
export function isAdded(stretch: Stretch, added: Credits): boolean {
  const excess = stretch.excess
  return excess < 0 && added >= -excess && added <= stretch.ambiguous - excess
}

/** Whether the values fit, with the gifts that were found. */
function fitsWithGifts({ fits, gifts, conservation: { stretches } }: BalanceReading): boolean {
  return (
    fits !== 'none' &&
    stretches.every(
      (stretch) => stretch.excess === 0 || gifts.some(({ credits }) => isAdded(stretch, credits)),
    )
  )
}

function withGifts(
  history: BalanceHistory,
  asShown: BalanceReading,
  giftSizes: readonly Credits[],
  policy: KnownPolicy | null,
): BalanceReading {
  const { meanings } = asShown
  const fallen = eachMeaning(meanings, (meaning) => {
    const includesOwn = includesOwnCharge(history, meaning)
    const { history: lowered, gifts } = withoutGifts(history, giftSizes, includesOwn)
    return gifts.length === 0 ? null : { ...readAs(lowered, meaning, meanings, policy), gifts }
  })
  if (fallen.length === 0) return asShown
  const reading = best(fallen)
  // Idle values keep the gift, because rules about grants look for it there.
  const conservation = readConservation(history, includesOwnCharge(history, reading.meaning))
  return { ...reading, history, conservation }
}

/** Reads the history by each meaning, until one leaves nothing open. */
function eachMeaning(
  meanings: readonly HeaderMeaning[],
  read: (meaning: HeaderMeaning) => BalanceReading | null,
): readonly BalanceReading[] {
  const readings: BalanceReading[] = []
  for (const meaning of meanings) {
    const reading = read(meaning)
    if (reading === null) continue
    readings.push(reading)
    // A reading that is exact without the streams may have a wrong meaning for them.
    if (reading.fits === 'exact' && isConserved(reading)) break
  }
  return readings
}

/** If the meaning is open, nothing is reported that one of the meanings explains. */
function best(readings: readonly BalanceReading[]): BalanceReading {
  const conserved = readings.filter(isConserved)
  const chosen =
    conserved.find(({ fits }) => fits === 'exact') ??
    conserved.find(({ fits }) => fits === 'loose') ??
    readings.find(({ fits }) => fits === 'exact') ??
    readings.find(({ fits }) => fits === 'loose') ??
    conserved[0] ??
    leastWrong(readings)
  return chosen.fits === 'none' ? lateOrNone(chosen) : chosen
}

/**
 * What no meaning explains is told by the one that leaves the fewest stretches unexplained. One that leaves only the whole
 * unexplained has an ambiguous attempt pay in two stretches.
 */
function leastWrong(readings: readonly BalanceReading[]): BalanceReading {
  const wrong = ({ conservation: { stretches } }: BalanceReading) =>
    stretches.filter((stretch) => stretch.excess !== 0).length
  const [least = readings[0]!] = readings
    .filter((reading) => wrong(reading) > 0)
    .toSorted((a, b) => wrong(a) - wrong(b))
  return least
}

function isConserved({ conservation: { stretches, whole } }: BalanceReading): boolean {
  // An ambiguous attempt may be in two stretches, but pays once in the whole.
  return [...stretches, ...(whole === null ? [] : [whole])].every((each) => each.excess === 0)
}

function readAs(
  history: BalanceHistory,
  meaning: HeaderMeaning,
  meanings: readonly HeaderMeaning[],
  policy: KnownPolicy | null,
): BalanceReading {
  const { effect, value, size } = history
  const includesOwn = includesOwnCharge(history, meaning)
  // A stream's header may come before its charge, whose place is then unknown.
  const whole = readIntervals(intervalOperations(history, meaning, true))
  const plainOnly =
    whole.conflictCount > 0 && history.streamed.includes(1)
      ? readIntervals(intervalOperations(history, meaning, false))
      : whole
  const intervals = plainOnly.conflictCount < whole.conflictCount ? plainOnly : whole
  const bounds = once(() => readBounds(history, { includesOwn, graceUs: 0, holds: true }))
  const majorization = once(() =>
    readMajorization(intervalOperations(history, meaning, false), bounds().most.credits),
  )
  let [observations, charges, ambiguous] = [0, 0, 0]
  for (let row = 0; row < size; row++) {
    if (!Number.isNaN(value[row]!)) observations++
    if (effect[row] === effects.charge) charges++
    else if (effect[row] === effects.ambiguous) ambiguous++
  }
  const conservation = readConservation(history, includesOwn)
  const isBounded = () => bounds().least.credits <= bounds().most.credits
  const isLoose = () => isBounded() && bounds().rise === null && majorization().conflict === null
  // Values of streams that have no place still bound the balance. One may foretell its charge, so they may rise.
  const isExact = intervals.conflictCount === 0 && (intervals === whole || isBounded())
  const fits = isExact ? 'exact' : isLoose() ? 'loose' : 'none'
  const { openCredits, ...abandoned } = readAbandoned(
    history,
    intervals,
    fits,
    conservation,
    () => intervalOperations(history, meaning, true),
    policy,
  )
  const { stray } = abandoned
  return {
    history,
    observations,
    charges,
    ambiguous,
    meaning,
    meanings,
    isExactAs: (other) => {
      const reading = readAs(history, other, meanings, policy)
      return reading.fits === 'exact' && isConserved(reading)
    },
    fits,
    settleUs: 0,
    doubt:
      fits === 'loose' && intervals.missingCredits > 0
        ? `the values fit only if ${intervals.missingCredits} of the credits that went were held by requests that gave them back after the last value; a wrong charge would look the same`
        : openCredits === 0
          ? null
          : `the values fit only if some of ${ambiguous} attempts whose price is open cost ${openCredits} credits, and no policy explains which; a wrong charge would look the same`,
    conservation,
    gifts: [],
    intervals,
    ...abandoned,
    places: once(() => {
      if (ambiguous < fewAmbiguous) return []
      const operations = intervalOperations(
        history,
        meaning,
        stray.length > 0 || intervals === whole,
      )
      const { filled, conflicts } = stray.length > 0 ? whole : intervals
      const balanceGaps = conflicts.flatMap((conflict) =>
        conflict.kind === 'balance-gap' ? [conflict.balanceGap] : [],
      )
      return placesOf(history, operations, [...filled, ...balanceGaps])
    }),
    bounds,
    majorization,
  }
}

/**
 * Late charges are missing in the values at first, but not in the final balance. That must be seen, because a lost
 * update and a double charge look the same until then: without it, the reading is in doubt.
 */
function lateOrNone(reading: BalanceReading): BalanceReading {
  const { history, conservation, intervals } = reading
  const { whole } = conservation
  if (whole === null ? isRare(intervals) : whole.excess !== 0) return reading
  // With no value in turn, only a header that was read before its charge may explain the values.
  for (const graceUs of whole === null ? [0] : gracesUs) {
    const bounds = readBounds(history, { includesOwn: () => false, graceUs, holds: true })
    if (bounds.least.credits <= bounds.most.credits && bounds.rise === null) {
      const late = { ...reading, fits: 'late', settleUs: graceUs } as const
      const unread = unreadCharges(history, whole)
      return unread === 0
        ? late
        : {
            ...late,
            doubt: `the values fit only if charges show up to ${graceUs / 1e6} s after their response, and the balance was not read with nothing in flight around ${unread} of the requests that may be charged; a wrong charge would look the same. Read it before the first request and after the last answer`,
          }
    }
  }
  return reading
}

/** Whether there are few contradictions among many values that are exact otherwise. */
export function isRare({ conflictCount, placed }: IntervalReading): boolean {
  return conflictCount <= Math.max(2, placed / 200)
}

/** How many requests that may be charged were called before the first idle value, or after the last one. */
function unreadCharges(
  { size, effect, callUs, costCredits }: BalanceHistory,
  whole: Stretch | null,
): number {
  let count = 0
  for (let row = 0; row < size; row++) {
    const isOutside =
      whole === null || callUs[row]! < callUs[whole.from]! || callUs[row]! > callUs[whole.to]!
    const mayCost = effect[row] === effects.charge || effect[row] === effects.ambiguous
    if (isOutside && mayCost && costCredits[row] !== 0) count++
  }
  return count
}

/**
 * The history as operations of tier 3.
 *
 * @param streams whether values of streams show the balance at their own charge
 */
export function intervalOperations(
  history: BalanceHistory,
  meaning: HeaderMeaning,
  streams: boolean,
): Operations {
  const { size, callUs, readUs, endUs, effect, costCredits, value, streamed, settlesByUs } = history
  const untilUs = new Float64Array(size)
  const costs = new Float64Array(size)
  const after = new Float64Array(size).fill(Number.NaN)
  const certain = new Uint8Array(size)
  for (let row = 0; row < size; row++) {
    const own = meaning[streamed[row] === 1 ? 'stream' : 'plain']
    untilUs[row] = endUs[row]!
    switch (effect[row]) {
      case effects.charge:
        costs[row] = costCredits[row]!
        certain[row] = 1
        if (Number.isNaN(value[row]!) || (streamed[row] === 1 && !streams)) break
        untilUs[row] = readUs[row]!
        after[row] = own === 'after' ? value[row]! : value[row]! - costCredits[row]!
        break
      case effects.ambiguous:
        costs[row] = costCredits[row]!
        untilUs[row] = settlesByUs[row]!
        break
      default:
        if (Number.isNaN(value[row]!)) break
        certain[row] = 1
        untilUs[row] = readUs[row]!
        after[row] = value[row]!
    }
  }
  return { size, callUs, untilUs, costCredits: costs, after, certain }
}
