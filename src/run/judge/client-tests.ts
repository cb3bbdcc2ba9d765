import type { MemoryFigures } from '../../client/bytes/memory.ts'
import { largest } from '../../user/extremes.ts'
import { heldIf, milliseconds, notJudged, type RunTest, samplesFor } from './run-test.ts'

/** Times that a client's delay may spoil. */
export const judgedTimes = ['response', 'ttft', 'itl'] as const

export interface Median {
  readonly of: (typeof judgedTimes)[number]
  readonly step: string
  readonly us: number
}

export interface LagFigures {
  readonly p50Us: number
  readonly p90Us: number
  readonly p99Us: number
  readonly samples: number
}

/** Gaps of the event loop: times in which a sending thread was blocked. */
export interface GapFigures {
  /** The greatest gap that tainted a request; the greatest of all if none did. */
  readonly greatestUs: number
  /** Longer gaps taint the requests in them. */
  readonly limitUs: number
  readonly requests: number
  /** Requests that were due or in flight in a gap over the limit. */
  readonly tainted: number
}

/** Requests in flight, summed over the same instants. */
export interface InFlightFigures {
  /** Each is one of one thread. */
  readonly instants: number
  /** As the senders counted them. */
  readonly counted: number
  /** By the time stamps of the rows. */
  readonly byRows: number
}

export interface ThreadFigures {
  readonly shard: number
  readonly loopDelayP99Us: number
  readonly utilisation: number
}

/** A response that is dropped for lack of memory is not a failure of the service. */
export function memoryTest(threads: readonly MemoryFigures[]): RunTest {
  const name = 'memory of answers'
  const bound = 'none given up'
  if (threads.length === 0) return notJudged(name, bound, noThread)
  const sum = (of: (figures: MemoryFigures) => number) =>
    threads.reduce((all, figures) => all + of(figures), 0)
  const [maxBytes, peakBytes, givenUp] = [
    sum((figures) => figures.maxBytes),
    sum((figures) => figures.peakBytes),
    sum((figures) => figures.givenUp),
  ]
  const share = maxBytes === 0 ? '' : ` (${((peakBytes / maxBytes) * 100).toFixed(0)} %)`
  const lost = givenUp === 0 ? '' : `; ${givenUp} answers were given up`
  const figure = `at most ${megabytes(peakBytes)} of ${megabytes(maxBytes)} MB${share}${lost}`
  const remedy = 'Raise max_memory_mb, or have fewer or shorter answers at a time.'
  return heldIf(givenUp === 0, 'failed', { name, figure, bound, remedy })
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)

const lowestLagBoundUs = 5000
/** Share of a judged time that lag may take without spoiling the judgement. */
const lagOfClaim = 0.1
const highestDelayBoundUs = 20_000

/** The highest percentile for which there are enough samples. */
function carried(samples: number): { readonly name: 'p99' | 'p90' | 'p50'; readonly rest: number } {
  if (samples >= samplesFor.p99) return { name: 'p99', rest: 0.01 }
  return samples >= samplesFor.p90 ? { name: 'p90', rest: 0.1 } : { name: 'p50', rest: 0.5 }
}

function shortest<Time extends { readonly us: number }>(medians: readonly Time[]): Time | null {
  return medians.reduce<Time | null>(
    (least, median) => (least === null || median.us < least.us ? median : least),
    null,
  )
}

/** The shortest median except ITL, of which a gap of the event loop affects only one per stream. */
const waits = (medians: readonly Median[]) => shortest(medians.filter(({ of }) => of !== 'itl'))

/** Longer gaps of the event loop taint the requests in them. */
export const gapLimitUs = (medians: readonly Median[]): number =>
  Math.max(highestDelayBoundUs, (waits(medians)?.us ?? 0) / 10)

/** Lag from here on spoils the shown times: 5 ms, or 1 % of the shortest median. */
export const lagBoundUs = (medians: readonly { readonly us: number }[]) =>
  Math.max(lowestLagBoundUs, (shortest(medians)?.us ?? 0) / 100)

/**
 * Judges the highest percentile of lag that has enough samples. A p99 of fifty requests is the lag of one
 * of them, and one hiccup of the machine would make the run invalid.
 *
 * @param claimUs the tightest time that the run judges: lag that is small beside it leaves that judgement, and only
 *   the figures shown need care. Null if the run judges none, and its figures are all that it claims
 */
export function lagTest(
  lag: LagFigures | null,
  medians: readonly Median[],
  claimUs: number | null = null,
): RunTest {
  const least = shortest(medians)
  const boundUs = lagBoundUs(medians)
  const bound = `< ${milliseconds(boundUs)}${boundUs > lowestLagBoundUs ? ` (1 % of the ${names[least!.of]} of ${least!.step})` : ''}`
  if (lag === null) return notJudged('lag p99', bound, 'nothing was sent')
  const { name } = carried(lag.samples)
  const value = lag[`${name}Us`]
  const held = value < boundUs
  const spoils = claimUs === null || value >= claimUs * lagOfClaim
  const why = name === 'p99' ? '' : `; ${lag.samples} requests are too few for a p99`
  const leaves =
    held || spoils
      ? ''
      : `; below ${lagOfClaim * 100} % of ${milliseconds(claimUs!)}, which is judged`
  return heldIf(held, spoils ? 'failed' : 'degraded', {
    name: `lag ${name}`,
    figure: `${milliseconds(value)}${why}${leaves}`,
    bound,
    remedy:
      'Requests were sent late: give the sender its own core, add threads, or lower the rate.',
  })
}

const names = { response: 'response time', ttft: 'TTFT', itl: 'ITL' } as const

const noThread = 'no thread ended'
const threadRemedy = 'Add threads, or leave cores free for them.'

/** An event loop that is late by d makes a time stamp late by up to d. */
export function delayTest(threads: readonly ThreadFigures[], medians: readonly Median[]): RunTest {
  const boundUs = Math.max(
    lowestLagBoundUs,
    Math.min(highestDelayBoundUs, shortest(medians)?.us ?? highestDelayBoundUs),
  )
  const [name, bound] = ['event-loop delay p99', `< ${milliseconds(boundUs)}`]
  if (threads.length === 0) return notJudged(name, bound, noThread)
  const delayUs = largest(threads.map((thread) => thread.loopDelayP99Us))
  const figure = milliseconds(delayUs)
  return heldIf(delayUs < boundUs, 'degraded', { name, figure, bound, remedy: threadRemedy })
}

/** The part of the values beyond a percentile that gaps may have lengthened. */
const mostInGaps = 0.5

/**
 * A p99 of delays hides one gap of a second in a minute, so the requests in gaps are judged. Their share must be under half of
 * what lies beyond the highest percentile for which the run has enough requests: then at least as much of that is the service's,
 * and the p99 is at most the p99.5 of a run without gaps.
 *
 *     1,000 requests: 10 lie beyond the p99, so fewer than 5 of them may have been in gaps
 */
export function gapTest(
  gaps: GapFigures | null,
  medians: readonly Median[],
  claimUs: number | null = null,
): RunTest {
  const name = 'event-loop gap'
  if (gaps === null || gaps.requests === 0) {
    return notJudged(name, 'under 0.5 % of the requests in gaps', 'nothing was sent')
  }
  const { greatestUs, limitUs, requests, tainted } = gaps
  const most = carried(requests).rest * mostInGaps
  const bound = `under ${most * 100} % of the requests in gaps`
  const share = tainted / requests
  const figure = `${milliseconds(greatestUs)}; ${tainted} of ${requests} requests (${(share * 100).toFixed(2)} %) in gaps over ${milliseconds(limitUs)}`
  // A gap as long as half of the judged time, or as the shortest median, spoils the measurement.
  const spoilt = greatestUs >= (claimUs === null ? (waits(medians)?.us ?? Infinity) : claimUs / 2)
  const remedy =
    'The sending thread stopped: leave it a core, add threads, and look for slow prompt functions.'
  return heldIf(share < most, spoilt ? 'failed' : 'degraded', { name, figure, bound, remedy })
}

export function utilisationTest(
  threads: readonly ThreadFigures[],
  pacing: 'timer' | 'precise',
): RunTest {
  const [name, bound] = ['event-loop utilisation', '< 0.8']
  if (pacing === 'precise') return notJudged(name, bound, 'precise pacing spins, so it is always 1')
  if (threads.length === 0) return notJudged(name, bound, noThread)
  const busy = largest(threads.map((thread) => thread.utilisation))
  const figure = busy.toFixed(2)
  return heldIf(busy < 0.8, 'degraded', { name, figure, bound, remedy: threadRemedy })
}

/** So many requests may begin or end in the microsecond in which the others are counted. */
const mostAtOnce = 2

/**
 * By Little's law, the senders' counts and the rows agree on the requests in flight, unless a request is
 * lost, invented or stamped wrongly.
 */
export function inFlightTest(figures: InFlightFigures | null, hasAllRows: boolean): RunTest {
  const [name, bound] = ['in flight', 'within 5 %, or 2 requests']
  if (!hasAllRows) return notJudged(name, bound, 'rows are missing')
  if (figures === null || (figures.counted === 0 && figures.byRows === 0)) {
    return notJudged(name, bound, 'nothing was in flight when it was counted')
  }
  const { instants, counted, byRows } = figures
  const off = Math.abs(counted - byRows) / Math.max(counted, byRows)
  const figure = `${counted} counted at ${instants} instants, ${byRows} by the rows (${(off * 100).toFixed(2)} %)`
  const remedy = 'Rows and counters disagree: a bug in Assay; please report it.'
  const isLittle = Math.abs(counted - byRows) <= mostAtOnce
  return heldIf(off < 0.05 || isLittle, 'failed', { name, figure, bound, remedy })
}
