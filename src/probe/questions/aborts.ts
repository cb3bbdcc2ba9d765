import type { AttemptRow } from '../../attempt/columns.ts'
import type { AbortPoint } from '../../contract/request.ts'
import type { Prober } from '../prober.ts'
import { idleReads, notAskable, ofFacets, pricesOf, type Question } from '../question.ts'

/** Requests left at each point; an answer is an answer only when all of them agree. */
const repeats = 3
/** Requests left at a point that is told by the time, since one or two may be answered before. */
const mostEarly = 5
/** Whole answers to know how long the service takes: one or two may be late by chance. */
const wholes = 3
/** Asked for, so that there is time to leave. */
const maxTokens = 64

/** Reads of the balance before and after, and one where no header told a limit. */
const readsPerPoint = 2 * idleReads + 1

/** Where a request is left, and what must still be ahead of the service for that to tell anything. */
interface Point {
  readonly name: string
  /** `early` is while the service is surely at work, by the time. */
  readonly abort: AbortPoint | 'early'
  readonly ahead: 'headersUs' | 'doneUs' | null
}

const beforeHeaders: Point = { name: 'before headers', abort: 'early', ahead: 'headersUs' }

const points: readonly Point[] = [
  beforeHeaders,
  { name: 'after headers', abort: { at: 'after-headers' }, ahead: 'doneUs' },
  { name: 'after the first event', abort: { at: 'first-event' }, ahead: 'doneUs' },
  { name: 'after four events', abort: { at: 'after-events', events: 4 }, ahead: 'doneUs' },
  { name: 'before the end', abort: { at: 'before-done' }, ahead: null },
]

/** G-14: streams left at each point, one phase each, between idle reads of the balance. */
export const abortedStreams: Question = {
  gaps: ['G-14'],
  price: ({ contract, readCredits }) =>
    (wholes + mostEarly + (points.length - 1) * repeats + points.length) *
      pricesOf(contract).least +
    points.length * readsPerPoint * readCredits,
  async ask(prober) {
    const found: Record<string, string | { oneOf: readonly string[] }> = {}
    const evidence: string[] = []
    await askWhole(prober, true)
    for (const point of points) {
      const outcome = await leave(prober, point, true)
      if (outcome === null) return { 'G-14': notAskable('no balance can be read') }
      found[point.name] = outcome.charged
      evidence.push(outcome.evidence)
    }
    return { 'G-14': ofFacets(found, ...evidence) }
  },
}

/** G-15: plain requests left before their answer. */
export const abortedPlain: Question = {
  gaps: ['G-15'],
  price: ({ contract, readCredits }) =>
    (wholes + mostEarly + 1) * pricesOf(contract).least + readsPerPoint * readCredits,
  async ask(prober) {
    await askWhole(prober, false)
    const outcome = await leave(prober, beforeHeaders, false)
    if (outcome === null) return { 'G-15': notAskable('no balance can be read') }
    return { 'G-15': ofFacets({ charge: outcome.charged }, outcome.evidence) }
  },
}

/** One that is not left, and more until it is known well how long the service works before headers. */
async function askWhole(prober: Prober, stream: boolean): Promise<void> {
  for (let sent = 0; sent < wholes; sent++) {
    await prober.chat({ stream, maxTokens }, { step: 'not left' })
    if (tookUs(prober, stream, 'sentUs', 'headersUs').length >= wholes) return
  }
}

async function leave(prober: Prober, { name, abort, ahead }: Point, stream: boolean) {
  const price = pricesOf(prober.contract).least
  const most = abort === 'early' ? mostEarly : repeats
  const paceUs = await prober.roomFor(most + 2 * idleReads)
  const before = await prober.idleBalance()
  // A limiter that paces might turn away all that is left after a read, unseen: the first one gets in.
  await prober.rest(paceUs)
  const gone: AttemptRow[] = []
  let served = 0
  // One that was over before its end was heard of is charged by any policy.
  const inTime = () => gone.filter((row) => ahead === null || isInTime(row, prober, ahead)).length
  for (let sent = 0; sent < most && inTime() < repeats; sent++) {
    const us = Math.max(500, toHeadersUs(prober, stream) / 3)
    const { columns } = await prober.chat(
      { stream, abort: abort === 'early' ? { at: 'after-us', us } : abort, maxTokens },
      { step: `left ${name}`, expects: 'any' },
    )
    if (columns.outcome === 'aborted') gone.push(columns)
    else if (columns.outcome === 'ok') served++
  }
  // A rejection is not seen by who has left: this one sees whether there was one.
  const last = await prober.chat(
    { stream, maxTokens },
    { step: 'not left', expects: 'any', patient: false },
  )
  if (last.columns.outcome === 'ok') served++
  // The service may finish the answers for itself and charge then.
  const slowestUs = Math.max(0, ...tookUs(prober, stream, 'sentUs', 'doneUs'))
  await prober.options.sleep(300_000 + slowestUs)
  const after = await prober.idleBalance()
  if (before === null || after === null) return null
  const left = gone.length
  const fell = before - after - served * price
  const evidence = `${name}: ${left} left, ${served} served, balance ${before} to ${after}`
  if (left > 0 && fell === 0 && last.status === 200) return { charged: 'free', evidence }
  const enough = ahead === null ? left > 0 : inTime() >= repeats
  if (enough && fell === left * price) return { charged: 'charged', evidence }
  // Some may have been over before they were left, or it depends on more than the point.
  return { charged: { oneOf: ['charged', 'free'] }, evidence }
}

/** Whether the service heard of the leaving, as far as is known, well before what was ahead of it. */
function isInTime(row: AttemptRow, prober: Prober, ahead: 'headersUs' | 'doneUs'): boolean {
  const stream = row.streamed === 1
  if (ahead === 'headersUs') {
    return row.closedUs! - row.sentUs! <= 0.75 * toHeadersUs(prober, stream)
  }
  // It hears of it a way later than it sent what was seen, and that came a way later, too.
  const heardUs = row.closedUs! - row.headersUs! + wayUs(prober)
  const wholeUs = tookUs(prober, stream, 'headersUs', 'doneUs')
  return wholeUs.length >= wholes && heardUs <= 0.75 * Math.min(...wholeUs)
}

/** How long the service surely works before headers: by the quickest so far, without its way. 0 if unknown. */
function toHeadersUs(prober: Prober, stream: boolean): number {
  const us = Math.min(...tookUs(prober, stream, 'sentUs', 'headersUs')) - wayUs(prober)
  return Number.isFinite(us) ? Math.max(0, us) : 0
}

/** There and back, at most: the quickest read. Infinite where none was answered. */
function wayUs({ responses }: Prober): number {
  const reads = responses.filter(
    ({ spec: { endpoint }, columns }) =>
      (endpoint === 'credits' || endpoint === 'models') && columns.outcome === 'ok',
  )
  return Math.min(...reads.map(({ columns }) => columns.headersUs! - columns.sentUs!))
}

/** What whole answers took between two moments; of shorter ones what they took to their headers alone. */
function tookUs(
  { responses }: Prober,
  stream: boolean,
  from: 'sentUs' | 'headersUs',
  to: 'headersUs' | 'doneUs',
): readonly number[] {
  return responses
    .filter(({ spec }) => spec.endpoint === 'chat' && spec.stream === stream)
    .filter(({ spec }) => to === 'headersUs' || spec.maxTokens === maxTokens)
    .filter(({ columns }) => columns.outcome === 'ok')
    .map(({ columns }) => columns[to]! - columns[from]!)
}
