import type { Credits } from '../../contract/contract.ts'
import { type BoundsReading, readBounds } from './bounds.ts'
import { type Conservation, excessOf, readConservation } from './conservation.ts'
import { type Gift, withoutGifts } from './gifts.ts'
import { type HeaderMeaning, includesOwnCharge, possibleMeanings } from './header-meaning.ts'
import { effects, type History } from './history.ts'
import { type Place, placesOf } from './location.ts'
import { type Majorization, readMajorization } from './majorization.ts'
import type { Operations } from './operations.ts'
import { isChargedWrongly } from './policies.ts'
import { chargedBeyondPolicies, type Settled } from './settled.ts'
import { readTiles, type TileFault, type TileReading } from './tiles.ts'

/**
 * All that the values of one account say together.
 *
 * The meaning of the header is not known, so each legal one is tried, the most telling first; a
 * history is at fault only when none explains it.
 *
 *     exact    every value shows the balance right after (or before) its own charge: tier 3
 *     loose    values are honest but taken a moment earlier or later, or requests hold credits that
 *              they give back: tiers 1 and 2
 *     late     charges settle some time after their response
 *     none     no legal service shows these values
 */
export interface LedgerReading {
  readonly history: History
  /** Values seen. */
  readonly observations: number
  readonly charges: number
  readonly ambiguous: number
  readonly meaning: HeaderMeaning
  /** All meanings that the header may have. */
  readonly meanings: readonly HeaderMeaning[]
  readonly fits: 'exact' | 'loose' | 'late' | 'none'
  /** How long after the response charges settle, for `late`. */
  readonly settleUs: number
  /** Why values that fit are no proof that every charge was right; null where nothing speaks against it. */
  readonly doubt: string | null
  readonly conservation: Conservation
  /** What came in during the run; tiers 1 to 3 read the values without it. */
  readonly gifts: readonly Gift[]
  readonly tiles: TileReading
  /** Holes that are left when all ambiguous attempts but these follow one policy of charging. */
  readonly stray: readonly TileFault[]
  /** Whether the stray holes are proof: no legal combination of policies explains them. */
  readonly isProven: () => boolean
  /**
   * Where the credits may be that nothing accounts for, the likeliest first; empty where a fault of the
   * tiles has its one place.
   */
  readonly places: () => readonly Place[]
  /** Credits that the sums between settled values prove to have been taken wrongly; null for none. */
  readonly settled: () => Settled | null
  /** Tiers 2 and 1, worked out when they are asked for: where tier 3 fits, nobody does. */
  readonly bounds: () => BoundsReading
  readonly majorization: () => Majorization
}

/** Delays that are tried for late settlement; 0 is a header that is merely stale. */
const gracesUs = [0, 0.1e6, 0.5e6, 1e6, 2e6, 5e6, 10e6, 30e6, 60e6]

/** @param giftSizes what may come in at once by the contract: packages and grants */
export function readLedger(history: History, giftSizes: readonly Credits[] = []): LedgerReading {
  const meanings = possibleMeanings(history)
  const asShown = best(eachMeaning(meanings, (meaning) => readAs(history, meaning, meanings)))
  if (asShown.fits === 'exact') return asShown
  const fallen = eachMeaning(meanings, (meaning) => {
    const includesOwn = includesOwnCharge(history, meaning)
    const { history: lowered, gifts } = withoutGifts(history, giftSizes, includesOwn)
    return gifts.length === 0 ? null : { ...readAs(lowered, meaning, meanings), gifts }
  })
  if (fallen.length === 0) return asShown
  const reading = best(fallen)
  // Idle values keep the gift in them: rules of grants look there.
  const conservation = readConservation(history, includesOwnCharge(history, reading.meaning))
  return { ...reading, history, conservation }
}

/** What the history says by each meaning, as far as the first that leaves nothing open. */
function eachMeaning(
  meanings: readonly HeaderMeaning[],
  read: (meaning: HeaderMeaning) => LedgerReading | null,
): readonly LedgerReading[] {
  const readings: LedgerReading[] = []
  for (const meaning of meanings) {
    const reading = read(meaning)
    if (reading === null) continue
    readings.push(reading)
    // Exact without the streams, a reading may still have their meaning wrong.
    if (reading.fits === 'exact' && isConserved(reading)) break
  }
  return readings
}

/** Where evidence leaves the meaning open, nothing is accused that one of the meanings explains. */
function best(readings: readonly LedgerReading[]): LedgerReading {
  const conserved = readings.filter(isConserved)
  const chosen =
    conserved.find(({ fits }) => fits === 'exact') ??
    conserved.find(({ fits }) => fits === 'loose') ??
    readings.find(({ fits }) => fits === 'exact') ??
    readings.find(({ fits }) => fits === 'loose') ??
    conserved[0] ??
    readings[0]!
  return chosen.fits === 'none' ? lateOrNone(chosen) : chosen
}

function isConserved({ conservation: { segments, whole } }: LedgerReading): boolean {
  // An ambiguous attempt may stand in two segments, and pays once in the whole.
  return [...segments, ...(whole === null ? [] : [whole])].every((each) => excessOf(each) === 0)
}

function readAs(
  history: History,
  meaning: HeaderMeaning,
  meanings: readonly HeaderMeaning[],
): LedgerReading {
  const { effect, value, size } = history
  const includesOwn = includesOwnCharge(history, meaning)
  // A stream's header may stand before its charge: then the charge is placed by nobody.
  const whole = readTiles(tileOperations(history, meaning, true))
  const plainOnly =
    whole.faultCount > 0 && history.streamed.includes(1)
      ? readTiles(tileOperations(history, meaning, false))
      : whole
  const tiles = plainOnly.faultCount < whole.faultCount ? plainOnly : whole
  const bounds = once(() => readBounds(history, { includesOwn, graceUs: 0, holds: true }))
  const majorization = once(() =>
    readMajorization(tileOperations(history, meaning, false), bounds().most.credits),
  )
  let [observations, charges, ambiguous] = [0, 0, 0]
  for (let row = 0; row < size; row++) {
    if (!Number.isNaN(value[row]!)) observations++
    if (effect[row] === effects.charge) charges++
    else if (effect[row] === effects.ambiguous) ambiguous++
  }
  const isOpen = tiles.faultCount === 0 && tiles.uncertainCredits > 0
  const left = isOpen || ambiguous >= fewAmbiguous ? leftByOnePolicy(history, meaning) : nothingLeft
  const isStray =
    ambiguous >= fewAmbiguous &&
    left.faultCount * 50 <= ambiguous &&
    left.faults.every((fault) => fault.kind === 'hole')
  const stray = isStray ? left.faults : []
  const conservation = readConservation(history, includesOwn)
  const isLoose = () =>
    bounds().least.credits <= bounds().most.credits &&
    bounds().rise === null &&
    majorization().fault === null
  const fits = tiles.faultCount === 0 ? 'exact' : isLoose() ? 'loose' : 'none'
  const byNoPolicy =
    fits === 'exact' && left.faultCount > 0
      ? tiles.uncertainCredits
      : fits === 'loose'
        ? byNoPolicyInAll(history, conservation)
        : 0
  return {
    history,
    observations,
    charges,
    ambiguous,
    meaning,
    meanings,
    fits,
    settleUs: 0,
    doubt:
      fits === 'loose' && tiles.missingCredits > 0
        ? `the values fit only if ${tiles.missingCredits} of the credits that went were held by requests that gave them back after the last value; a wrong charge would look the same`
        : byNoPolicy === 0
          ? null
          : `the values fit only if some of ${ambiguous} attempts whose price is open took ${byNoPolicy} credits, by no policy that explains which; a wrong charge beside them would look the same`,
    conservation,
    gifts: [],
    tiles,
    stray,
    isProven: once(
      () =>
        stray.length > 0 &&
        isChargedWrongly(
          history,
          tileOperations(history, meaning, true),
          tiles.uncertainCredits,
          stray.reduce((sum, fault) => sum + (fault.kind === 'hole' ? fault.unexplained : 0), 0),
        ),
    ),
    settled: once(() =>
      ambiguous < fewAmbiguous ? null : chargedBeyondPolicies(history, conservation),
    ),
    places: once(() => {
      if (ambiguous < fewAmbiguous) return []
      const operations = tileOperations(history, meaning, stray.length > 0 || tiles === whole)
      const { filled, faults } = stray.length > 0 ? whole : tiles
      const holes = faults.flatMap((fault) => (fault.kind === 'hole' ? [fault.hole] : []))
      return placesOf(history, operations, [...filled, ...holes])
    }),
    bounds,
    majorization,
  }
}

/** With fewer ambiguous attempts no policy can be told from chance. */
const fewAmbiguous = 50

/** Which attempts that their client left a service charges (gaps G-14, G-15). */
const policies: readonly ((history: History, row: number) => boolean)[] = [
  () => false,
  () => true,
  ({ contentEvents }, row) => contentEvents[row]! > 0,
  ({ streamed }, row) => streamed[row] === 1,
  ({ streamed }, row) => streamed[row] === 0,
]

/** A service that goes on with what its client left needs no longer than its longest response. */
function longestResponseUs({ size, callUs, endUs }: History): number {
  let longest = 0
  for (let row = 0; row < size; row++) longest = Math.max(longest, endUs[row]! - callUs[row]!)
  return longest
}

type Left = Pick<TileReading, 'faults' | 'faultCount'>
const nothingLeft: Left = { faults: [], faultCount: 0 }

/**
 * The faults that are left by the policy which leaves the fewest.
 *
 * Among ambiguous attempts one wrong charge would hide for ever, since any of them may explain it. But a
 * service has a policy: where none explains all holes, credits went nobody knows where. Where one explains all
 * but one in fifty attempts or fewer, those holes are worth telling. They are no proof, for a client may leave
 * at the very moment at which its request completes.
 */
function leftByOnePolicy(history: History, meaning: HeaderMeaning): Left {
  let best: Left | null = null
  const lingerUs = longestResponseUs(history)
  for (const charges of policies) {
    const operations = tileOperations(history, meaning, true)
    const { certain, costCredits, untilUs } = operations
    for (let row = 0; row < history.size; row++) {
      if (history.effect[row] !== effects.ambiguous) continue
      if (charges(history, row)) {
        certain[row] = 1
        untilUs[row] = Math.min(untilUs[row]!, history.callUs[row]! + lingerUs)
      } else costCredits[row] = 0
    }
    const reading = readTiles(operations)
    if (reading.faultCount === 0) return nothingLeft
    if (best === null || reading.faultCount < best.faultCount) best = reading
  }
  return best!
}

/** Credits that went to ambiguous attempts from the first idle value to the last, where no policy takes so many. */
function byNoPolicyInAll(history: History, { whole }: Conservation): Credits {
  if (whole === null) return 0
  const went = whole.taken - whole.sure
  const rows: number[] = []
  for (let row = whole.from + 1; row < whole.to; row++) {
    if (history.effect[row] === effects.ambiguous) rows.push(row)
  }
  const takes = (charges: (typeof policies)[number]) =>
    rows.reduce((sum, row) => sum + (charges(history, row) ? history.costCredits[row]! : 0), 0)
  return went <= 0 || policies.some((charges) => takes(charges) === went) ? 0 : went
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Charges that settle late show in no value at first and in the balance in the end, which must be
 * seen: a lost update looks the same until then.
 */
function lateOrNone(reading: LedgerReading): LedgerReading {
  const { history, conservation } = reading
  if (conservation.whole === null || excessOf(conservation.whole) !== 0) return reading
  for (const graceUs of gracesUs) {
    const bounds = readBounds(history, { includesOwn: () => false, graceUs, holds: true })
    if (bounds.least.credits <= bounds.most.credits && bounds.rise === null) {
      return { ...reading, fits: 'late', settleUs: graceUs }
    }
  }
  return reading
}

/**
 * The history as operations of tier 3.
 *
 * @param streams whether the values of streams are taken as the balance at their own charge
 */
export function tileOperations(
  history: History,
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
