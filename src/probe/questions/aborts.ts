import type { AttemptRow } from '../../attempt/columns.ts'
import type { AbortPoint } from '../../contract/request.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { lookup } from '../../user/lookup.ts'
import { pricesOf } from '../prices.ts'
import type { Prober } from '../prober.ts'
import { idleReads, notAskable, ofFacets, oneGap } from '../question.ts'

/** Requests aborted at each point. The result counts only if all agree. */
const repeats = 3
/** Most requests aborted at a point given by time: one or two may finish earlier. */
const mostByTime = 5
/** Complete requests, which measure how long the service takes: one or two may be slow by chance. */
const wholes = 3
/** Large enough to leave time for the abort. */
const maxTokens = 64

/** Reads of the balance before and after, and one if no header showed a limit. */
const readsPerPoint = 2 * idleReads + 1

/** A point of abort, and what the service must not have done yet for the result to count. */
interface Point {
  readonly name: string
  /** `by time`: while the service is certainly at work. */
  readonly abort: AbortPoint | 'by time'
  readonly ahead: Ahead | null
}

/** An event that an abort came before. */
type Ahead = 'headersUs' | 'doneUs'

const beforeHeaders: Point = { name: 'before headers', abort: 'by time', ahead: 'headersUs' }

const points: readonly Point[] = [
  beforeHeaders,
  { name: 'after headers', abort: { at: 'after-headers' }, ahead: 'doneUs' },
  { name: 'after the first event', abort: { at: 'first-event' }, ahead: 'doneUs' },
  { name: 'after four events', abort: { at: 'after-events', events: 4 }, ahead: 'doneUs' },
  { name: 'before the end', abort: { at: 'before-done' }, ahead: null },
]

/** G-14: streams aborted at each point, in one phase per point, between idle reads of the balance. */
export const abortedStreams = oneGap('G-14', {
  price: ({ contract, readCredits }) =>
    (wholes + mostByTime + (points.length - 1) * repeats + points.length) *
      pricesOf(contract).least +
    points.length * readsPerPoint * readCredits,
  async ask(prober) {
    const found: Record<string, string | { oneOf: readonly string[] }> = lookup()
    const evidence: string[] = []
    await askWhole(prober, true)
    for (const point of points) {
      const outcome = await leave(prober, point, true)
      if (outcome === null) return notAskable('no balance can be read')
      found[point.name] = outcome.charged
      evidence.push(outcome.evidence)
    }
    return ofFacets(found, ...evidence)
  },
})

/** G-15: plain requests aborted before their response. */
export const abortedPlain = oneGap('G-15', {
  price: ({ contract, readCredits }) =>
    (wholes + mostByTime + 1) * pricesOf(contract).least + readsPerPoint * readCredits,
  async ask(prober) {
    await askWhole(prober, false)
    const outcome = await leave(prober, beforeHeaders, false)
    if (outcome === null) return notAskable('no balance can be read')
    return ofFacets({ charge: outcome.charged }, outcome.evidence)
  },
})

/** Sends a complete request, and more until the time that the service works before headers is well known. */
async function askWhole(prober: Prober, stream: boolean): Promise<void> {
  for (let sent = 0; sent < wholes; sent++) {
    await prober.chat({ stream, maxTokens }, { step: 'not left' })
    if (tookUs(prober, stream, 'sentUs', 'headersUs').length >= wholes) return
  }
}

async function leave(prober: Prober, { name, abort, ahead }: Point, stream: boolean) {
  const price = pricesOf(prober.contract).least
  const most = abort === 'by time' ? mostByTime : repeats
  const paceUs = await prober.roomFor(most + 2 * idleReads)
  const before = await prober.idleBalance()
  // After a read, a limiter that paces might reject every aborted request, unseen. The rest lets the first one in.
  await prober.rest(paceUs)
  const aborted: AttemptRow[] = []
  let served = 0
  // A request that finished before the service noticed its abort is charged by any policy.
  const inTime = () =>
    aborted.filter((row) => ahead === null || isInTime(row, prober, ahead)).length
  for (let sent = 0; sent < most && inTime() < repeats; sent++) {
    const us = Math.max(500, toHeadersUs(prober, stream) / 3)
    const { columns } = await prober.chat(
      { stream, abort: abort === 'by time' ? { at: 'after-us', us } : abort, maxTokens },
      { step: `left ${name}`, expects: 'any' },
    )
    if (columns.outcome === 'aborted') aborted.push(columns)
    else if (columns.outcome === 'ok') served++
  }
  // The client of an aborted request does not see a rejection. This request reveals whether there was one.
  const last = await prober.chat(
    { stream, maxTokens },
    { step: 'not left', expects: 'any', patient: false },
  )
  if (last.columns.outcome === 'ok') served++
  // The service may complete the aborted responses and charge then.
  const slowestUs = largest(tookUs(prober, stream, 'sentUs', 'doneUs'), 0)
  await prober.options.sleep(300_000 + slowestUs)
  const after = await prober.idleBalance()
  if (before === null || after === null) return null
  const left = aborted.length
  const inTimeCount = inTime()
  const fell = before - after - served * price
  const evidence = `${name}: ${left} left, ${served} served, balance ${before} to ${after}`
  if (left > 0 && fell === 0 && last.status === 200) return { charged: 'free', evidence }
  const enough = ahead === null ? left > 0 : inTimeCount >= repeats
  if (enough && fell === left * price) return { charged: 'charged', evidence }
  // Those in time are charged or free together; the later ones may have finished, and are fewer.
  const late = left - inTimeCount
  if (
    ahead !== null &&
    inTimeCount > late &&
    inTimeCount > 1 &&
    last.status === 200 &&
    fell % price === 0
  ) {
    // A limiter that paces may have rejected some, unseen.
    if (paceUs === 0 && fell >= 0 && fell <= late * price) return { charged: 'free', evidence }
    if (fell >= inTimeCount * price && fell <= left * price) return { charged: 'charged', evidence }
  }
  // Some may have finished before their abort, or the charge depends on more than the point.
  return { charged: { oneOf: ['charged', 'free'] }, evidence }
}

/** Whether the service noticed the abort well before the event `ahead`, as far as the client can know. */
function isInTime(row: AttemptRow, prober: Prober, ahead: Ahead): boolean {
  const stream = row.streamed === 1
  if (ahead === 'headersUs')
    return row.closedUs! - row.sentUs! <= 0.75 * toHeadersUs(prober, stream)
  // The service notices the abort one trip after it happens, and the headers took one trip, too.
  const heardUs = row.closedUs! - row.headersUs! + roundTripUs(prober)
  const wholeUs = tookUs(prober, stream, 'headersUs', 'doneUs')
  return wholeUs.length >= wholes && heardUs <= 0.75 * smallest(wholeUs)
}

/** A lower bound of the service's work before headers: the quickest so far minus the network. 0 if unknown. */
function toHeadersUs(prober: Prober, stream: boolean): number {
  const us = smallest(tookUs(prober, stream, 'sentUs', 'headersUs')) - roundTripUs(prober)
  return Number.isFinite(us) ? Math.max(0, us) : 0
}

/** An upper bound of the network's round trip: the quickest read. Infinite without one. */
function roundTripUs({ responses }: Prober): number {
  const reads = responses.filter(
    ({ spec: { endpoint }, columns }) =>
      (endpoint === 'credits' || endpoint === 'models') && columns.outcome === 'ok',
  )
  return smallest(reads.map(({ columns }) => columns.headersUs! - columns.sentUs!))
}

/** Durations between two moments of complete responses. Shorter responses count only up to their headers. */
function tookUs(
  { responses }: Prober,
  stream: boolean,
  from: 'sentUs' | 'headersUs',
  to: Ahead,
): readonly number[] {
  return responses
    .filter(({ spec }) => spec.endpoint === 'chat' && spec.stream === stream)
    .filter(({ spec }) => to === 'headersUs' || spec.maxTokens === maxTokens)
    .filter(({ columns }) => columns.outcome === 'ok')
    .map(({ columns }) => columns[to]! - columns[from]!)
}
