import type { Credits } from '../../../contract/contract.ts'
import { once } from '../../../user/once.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import { fewAmbiguous, readAbandoned } from './abandoned/read.ts'
import { type BalanceReading, isConserved } from './balance-reading.ts'
import { readBounds } from './bounds.ts'
import { type IntervalReading, readIntervals } from './charge-intervals.ts'
import { readConservation } from './conservation.ts'
import { type HeaderMeaning, includesOwnCharge } from './header-meaning.ts'
import { type BalanceHistory, effects } from './history.ts'
import { intervalOperations } from './interval-operations.ts'
import { placesOf } from './location.ts'
import { readMajorization } from './majorization.ts'

/** Reads the values of an account, as if the header had this one of the `meanings` that it may have. */
export function readMeaning(
  history: BalanceHistory,
  meaning: HeaderMeaning,
  meanings: readonly HeaderMeaning[],
  policy: KnownPolicy | null,
): BalanceReading {
  const includesOwn = includesOwnCharge(history, meaning)
  const operations = (placeStreams: boolean) =>
    intervalOperations(history, meaning, { placeStreams })
  const { withStreams, intervals } = placeCharges(history, operations)
  const streamsArePlaced = intervals === withStreams
  const conservation = readConservation(history, includesOwn)
  // Requests may hold credits, and give them back.
  const bounds = once(() => readBounds(history, { includesOwn, graceUs: 0, holds: true }))
  const majorization = once(() => readMajorization(operations(false), bounds().most.credits))

  const isBounded = () => bounds().least.credits <= bounds().most.credits
  const isLoose = () => isBounded() && bounds().rise === null && majorization().conflict === null
  // Values of streams that have no place still bound the balance. A stream's value may already contain a charge that is still to come,
  // so a later value may be higher.
  const isExact = intervals.conflictCount === 0 && (streamsArePlaced || isBounded())
  const fits = isExact ? 'exact' : isLoose() ? 'loose' : 'none'

  const { openCredits, ...abandoned } = readAbandoned(
    history,
    intervals,
    fits,
    conservation,
    () => operations(true),
    policy,
  )
  const counts = countsOf(history)
  return {
    history,
    ...counts,
    meaning,
    meanings,
    isExactAs: (other) => {
      const reading = readMeaning(history, other, meanings, policy)
      return reading.fits === 'exact' && isConserved(reading)
    },
    fits,
    settleUs: 0,
    doubt: doubtOf(fits, intervals.missingCredits, openCredits, counts.ambiguous),
    conservation,
    gifts: [],
    intervals,
    ...abandoned,
    places: once(() => {
      if (counts.ambiguous < fewAmbiguous) return []
      // Stray balance gaps are those of the reading with streams.
      const placeStreams = abandoned.stray.length > 0 || streamsArePlaced
      const { filled, conflicts } = placeStreams ? withStreams : intervals
      const unfilled = conflicts.flatMap((conflict) =>
        conflict.kind === 'balance-gap' ? [conflict.balanceGap] : [],
      )
      return placesOf(history, operations(placeStreams), [...filled, ...unfilled])
    }),
    bounds,
    majorization,
  }
}

/** Tier 3, with the values of streams or without them (a header may come before its charge), whichever leaves fewer conflicts. */
function placeCharges(
  history: BalanceHistory,
  operations: (placeStreams: boolean) => ReturnType<typeof intervalOperations>,
): { readonly withStreams: IntervalReading; readonly intervals: IntervalReading } {
  const withStreams = readIntervals(operations(true))
  if (withStreams.conflictCount === 0 || !history.streamed.includes(1))
    return { withStreams, intervals: withStreams }
  const withoutStreams = readIntervals(operations(false))
  const isBetter = withoutStreams.conflictCount < withStreams.conflictCount
  return { withStreams, intervals: isBetter ? withoutStreams : withStreams }
}

function countsOf({ size, value, effect }: BalanceHistory) {
  let [observations, charges, ambiguous] = [0, 0, 0]
  for (let row = 0; row < size; row++) {
    if (!Number.isNaN(value[row]!)) observations++
    if (effect[row] === effects.charge) charges++
    else if (effect[row] === effects.ambiguous) ambiguous++
  }
  return { observations, charges, ambiguous }
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
