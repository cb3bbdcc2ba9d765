import type { Credits } from '../../../contract/contract.ts'
import { once } from '../../../user/once.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import { type Abandoned, fewAmbiguous, readAbandoned } from './abandoned/read.ts'
import { type BoundsReading, readBounds } from './bounds.ts'
import { type IntervalReading, readIntervals } from './charge-intervals.ts'
import { type Conservation, readConservation } from './conservation.ts'
import { type Gift, withoutGifts } from './gifts.ts'
import { fitsWithGifts, mayBeAdded, risesOf } from './gifts-in-reading.ts'
import { type HeaderMeaning, includesOwnCharge, possibleMeanings } from './header-meaning.ts'
import { type BalanceHistory, effects } from './history.ts'
import { intervalOperations } from './interval-operations.ts'
import { lateCharges } from './late.ts'
import { placesOf } from './location.ts'
import { type Majorization, readMajorization } from './majorization.ts'
import type { PageContradiction } from './page-contradiction.ts'
import type { Place } from './place.ts'

/**
 * The conclusions from all values of one account: all balances that it was shown, in headers and on the credits page.
 *
 * The meaning of the header is unknown, so each legal meaning is tried, the most specific first. A history is at fault
 * only if none explains it.
 *
 * Tier 0 (`conservation.ts`) compares sums between idle values; tier 1 (`majorization.ts`) and tier 2 (`bounds.ts`) hold for values that are
 * honest but taken a moment earlier or later; tier 3 (`charge-intervals.ts`) is exact.
 *
 *     exact    every value shows the balance right after (or before) its own charge: tier 3
 *     loose    values are honest but taken a moment earlier or later, or requests hold credits that
 *              they give back: tiers 1 and 2
 *     late     charges settle some time after their response
 *     none     no legal service shows these values
 */
export interface BalanceReading extends Omit<Abandoned, 'openCredits'> {
  readonly history: BalanceHistory
  /** How many values were shown. */
  readonly observations: number
  /** Requests that are certainly charged. */
  readonly charges: number
  /** Requests whose charge is open. */
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
  /** Tier 0. */
  readonly conservation: Conservation
  /** Credits that came in during the run. Tiers 1 to 3 read the values without them. */
  readonly gifts: readonly Gift[]
  /** The size of a rise among the gifts that neither a charge nor the contract explains; absent without one. */
  readonly unnamedPurchase?: Credits
  /** Values of the credits page that the headers contradict, which are then left out; absent without any. */
  readonly pageContradictions?: readonly PageContradiction[]
  /** Tier 3. */
  readonly intervals: IntervalReading
  /** Possible places of the unexplained credits, likeliest first; empty if a conflict has only one place. */
  readonly places: () => readonly Place[]
  /** Tiers 2 and 1, computed on demand: if tier 3 fits, nobody needs them. */
  readonly bounds: () => BoundsReading
  readonly majorization: () => Majorization
}

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
  if (isExplained(reading)) return reading
  // A rise of another size is no charge; it may be a purchase that the contract does not name.
  if (asShown.charges === 0) return reading
  for (const rise of risesOf(asShown.conservation.stretches).filter((each) =>
    mayBeAdded(each, giftSizes),
  )) {
    const risen = withGifts(history, asShown, [...giftSizes, rise], policy)
    if (isExplained(risen) && risen.gifts.some((gift) => gift.credits === rise))
      return { ...risen, unnamedPurchase: rise }
  }
  return reading
}

/** Whether the values fit, with the gifts that were found. */
const isExplained = ({ fits, gifts, conservation: { stretches } }: BalanceReading) =>
  fits !== 'none' && fitsWithGifts(stretches, gifts)

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
  if (chosen.fits !== 'none') return chosen
  const late = lateCharges(chosen.history, chosen.conservation, chosen.intervals)
  // A doubt that the reading has of its own stays.
  return late === null
    ? chosen
    : { ...chosen, fits: 'late', ...late, doubt: late.doubt ?? chosen.doubt }
}

/**
 * What no meaning explains is told by the one that leaves the fewest stretches unexplained. A reading whose stretches all fit, but not
 * their sum, lets one ambiguous attempt pay twice: it is the last choice.
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
  const operations = (placeStreams: boolean) =>
    intervalOperations(history, meaning, { placeStreams })
  const withStreams = readIntervals(operations(true))
  const withoutStreams =
    withStreams.conflictCount > 0 && history.streamed.includes(1)
      ? readIntervals(operations(false))
      : withStreams
  const intervals =
    withoutStreams.conflictCount < withStreams.conflictCount ? withoutStreams : withStreams
  // Requests may hold credits, and give them back.
  const bounds = once(() => readBounds(history, { includesOwn, graceUs: 0, holds: true }))
  const majorization = once(() => readMajorization(operations(false), bounds().most.credits))
  let [observations, charges, ambiguous] = [0, 0, 0]
  for (let row = 0; row < size; row++) {
    if (!Number.isNaN(value[row]!)) observations++
    if (effect[row] === effects.charge) charges++
    else if (effect[row] === effects.ambiguous) ambiguous++
  }
  const conservation = readConservation(history, includesOwn)
  const isBounded = () => bounds().least.credits <= bounds().most.credits
  const isLoose = () => isBounded() && bounds().rise === null && majorization().conflict === null
  // Values of streams that have no place still bound the balance. A stream's value may already contain a charge that is still to come,
  // so a later value may be higher.
  const isExact = intervals.conflictCount === 0 && (intervals === withStreams || isBounded())
  const fits = isExact ? 'exact' : isLoose() ? 'loose' : 'none'
  const { openCredits, ...abandoned } = readAbandoned(
    history,
    intervals,
    fits,
    conservation,
    () => operations(true),
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
    doubt: doubtOf(fits, intervals.missingCredits, openCredits, ambiguous),
    conservation,
    gifts: [],
    intervals,
    ...abandoned,
    places: once(() => {
      if (ambiguous < fewAmbiguous) return []
      const { filled, conflicts } = stray.length > 0 ? withStreams : intervals
      const balanceGaps = conflicts.flatMap((conflict) =>
        conflict.kind === 'balance-gap' ? [conflict.balanceGap] : [],
      )
      return placesOf(history, operations(stray.length > 0 || intervals === withStreams), [
        ...filled,
        ...balanceGaps,
      ])
    }),
    bounds,
    majorization,
  }
}

/** Why fitting values do not prove that every charge was right; null without such a reason. */
function doubtOf(
  fits: BalanceReading['fits'],
  missingCredits: Credits,
  openCredits: Credits,
  ambiguous: number,
): string | null {
  if (fits === 'loose' && missingCredits > 0)
    return `the values fit only if ${missingCredits} of the credits that went were held by requests that gave them back after the last value; a wrong charge would look the same`
  return openCredits === 0
    ? null
    : `the values fit only if some of ${ambiguous} attempts whose price is open cost ${openCredits} credits, and no policy explains which; a wrong charge would look the same`
}
