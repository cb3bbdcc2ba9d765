import { parentPort, workerData } from 'node:worker_threads'
import autocannon from 'autocannon'
import { Batch, Words } from '../attempt/batch.ts'
import { type AttemptRow, attemptColumns, columnNames } from '../attempt/columns.ts'
import type { TemplateRow } from '../attempt/evidence.ts'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import { flags } from '../attempt/flags.ts'
import type { PreparedRequest } from '../client/request.ts'
import { cycleOf } from '../schedule/cycle.ts'
import { ActivePhase } from './active-phase.ts'
import { runClock } from './clock.ts'
import type { FromSender, PhaseRun, SenderData, ToRecorder } from './messages.ts'
import { headerNumber, judgedAnswer, type SeenHeaders } from './saturate-answer.ts'
import { SenderHealth } from './sender-health.ts'
import { SharedNumbers } from './shared.ts'
import { StepPlan } from './step-plan.ts'

/**
 * A saturating phase: autocannon drives plain requests as fast as answers come, to find a ceiling.
 * Its own percentiles and rates are not used (it floors to milliseconds and mends coordinated
 * omission by a wrong unit): rows are built from its events, as every other row is.
 */
const port = parentPort!
const data = workerData as SenderData & { readonly phase: PhaseRun; readonly connections: number }
const { shard, scenario, phase: run } = data
const say = (message: FromSender) => port.postMessage(message)
const now = runClock(data.zeroNs)

const words = new Words()
let batch = new Batch()
let rows = 0
const templates: TemplateRow[] = []
const phase = new ActivePhase({ ...run, durationUs: null }, scenario, data.seed)
const plans = run.steps.map(
  (index) =>
    new StepPlan(scenario.steps[index]!, index, {
      runId: data.runId,
      contract: data.contract,
      basePath: new URL(data.baseUrl).pathname.replace(/\/$/, ''),
      keys: data.keys,
      pool: data.prompts[index] ?? null,
      prompt: null,
      templateBase: data.prompts
        .slice(0, index)
        .reduce((sum, pool) => sum + (pool?.length ?? 1), 0),
      nextMade: () => 0,
      onTemplate: (row) => templates.push(row),
    }),
)

const blank = Object.fromEntries(
  columnNames.map((name) => [name, attemptColumns[name].nullable ? null : 0]),
) as unknown as AttemptRow

/** One place of the cycle that every connection repeats. */
interface Entry {
  readonly plan: StepPlan
  readonly key: number
  readonly template: number
  readonly request: PreparedRequest
}

/** autocannon makes a copy of every request for each connection, so the cycle is kept short. */
const longestCycle = 60
const mostCopiedBytes = 256 << 20

/** Steps by their weights, their keys by theirs, and as many of their prompts as find room. */
function entriesOf(): readonly Entry[] {
  const pairs = plans.flatMap((plan) => {
    const keys = plan.keys.length === 0 ? [-1] : plan.keys
    const weightOf = (key: number) => data.keys[key]?.weight ?? 1
    const sum = keys.reduce((total, key) => total + weightOf(key), 0)
    return keys.map((key) => ({ plan, key, weight: (plan.step.weight * weightOf(key)) / sum }))
  })
  const cycle = cycleOf(
    pairs.map(({ weight }) => weight),
    longestCycle,
  )
  const bytes = cycle.reduce((sum, at) => sum + bodyBytes(pairs[at]!.plan), 0)
  const rounds = Math.min(
    Math.max(...plans.map(({ prompts }) => prompts)),
    longestCycle / cycle.length,
    mostCopiedBytes / Math.max(1, bytes * data.connections),
  )
  const drawn = new Map<StepPlan, number>()
  return Array.from({ length: Math.max(1, Math.floor(rounds)) }, () => cycle)
    .flat()
    .map((at): Entry => {
      const { plan, key } = pairs[at]!
      const times = drawn.get(plan) ?? 0
      drawn.set(plan, times + 1)
      return { plan, key, ...plan.fromPool(((times % plan.prompts) + 0.5) / plan.prompts, key) }
    })
}

const bodyBytes = (plan: StepPlan) => plan.fromPool(0, plan.keyAt(0)).request.wire.body.length

/** What autocannon told of the answer whose event comes next. */
let answer: { entry: Entry; body: string; headers: SeenHeaders } | null = null

/** When each connection sent what it now waits for. */
const since = new Map<autocannon.Client, number>()
let slot = run.slotBase
let flightUs = 0
const beganUs = now()

const entries = entriesOf()
const requests = entries.map((entry) => ({
  method: entry.request.wire.method,
  path: entry.request.wire.path,
  headers: Object.fromEntries(entry.request.wire.headers),
  ...(entry.request.wire.body.length === 0 ? {} : { body: Buffer.from(entry.request.wire.body) }),
  onResponse: (_: number, body: string, __: object, headers: SeenHeaders) => {
    answer = { entry, body, headers }
  },
}))
const entryByCallback = new Map<unknown, Entry>(
  requests.map(({ onResponse }, at) => [onResponse, entries[at]!]),
)

/** What a connection waits for, as its own iterator knows it. */
function entryOf(client: autocannon.Client): Entry {
  const { requestIterator } = client as unknown as {
    readonly requestIterator: { readonly currentRequest: { readonly onResponse?: unknown } }
  }
  return entryByCallback.get(requestIterator.currentRequest.onResponse) ?? entries[0]!
}

// What is in flight counts as spent at the price of the dearest step, so that the budget is never
// passed: autocannon has its next request out before it tells of an answer.
const shared = new SharedNumbers(data.shared)
const dearest = Math.max(...plans.map((plan) => plan.credits))
const budget = scenario.policy.maxCredits ?? Infinity
const left = () => (dearest === 0 ? Infinity : Math.floor((budget - shared.credits) / dearest))
const connections = Math.min(data.connections, left())

const cannon = autocannon(
  {
    url: new URL(data.baseUrl).origin,
    connections: Math.max(1, connections),
    pipelining: 1,
    // The end is ours to give; its own deadline would kill slow answers after ten seconds.
    duration: 1e6,
    timeout: 600,
    requests: requests as unknown as autocannon.Request[],
    setupClient: (client) => since.set(client, now()),
  },
  () => {},
)
const health = new SenderHealth()
const reports = setInterval(report, 1000)

cannon.on('response', (client: autocannon.Client, status: number, bytes: number, ms: number) => {
  const endUs = now()
  since.set(client, endUs)
  write(endUs - ms * 1000, endUs, status, bytes)
  if (left() <= connections) void end('budget')
})
cannon.on('reqError', () => write(now(), now(), null, 0))
const stopAt = setTimeout(() => void end(), (run.durationUs ?? 0) / 1000)
port.on('message', (message: { readonly type: string }) => {
  if (message.type === 'stop') void end()
})

function write(fromUs: number, endUs: number, status: number | null, bytes: number): void {
  const said = answer
  answer = null
  const entry = said?.entry ?? entries[0]!
  const { plan } = entry
  const judged = judgedAnswer(status, said?.body ?? '', plan.step.endpoint)
  const counters = phase.countersOf(plan.index)
  counters.planned++
  counters.ended(judged.outcome)
  const took = endUs - fromUs
  flightUs += took
  if (judged.outcome === 'ok') {
    counters.credits += plan.credits
    shared.reserve(plan.credits, Infinity)
    counters.good++
    phase.countSuccess(plan.index, took, took)
  } else {
    counters.error(status === null ? 'reset' : `${status} ${judged.errorCode ?? ''}`.trim())
    phase.countFailure(plan.index, took, took)
  }
  if (judged.outcome === (plan.step.wrong === null ? 'ok' : 'http_error')) shared.succeeded()
  else {
    counters.failures++
    shared.failed()
  }
  if (judged.outcome === 'ok' || plan.step.wrong === null) counters.judged++
  push(entry, {
    ...judged,
    intendedUs: fromUs,
    dispatchedUs: fromUs,
    sentUs: fromUs,
    doneUs: status === null ? null : endUs,
    closedUs: endUs,
    status,
    bytesIn: bytes,
    creditsRemaining: headerNumber(said?.headers, data.contract.headers.creditsRemaining),
    rateLimit: headerNumber(said?.headers, data.contract.headers.rateLimit),
    rateRemaining: headerNumber(said?.headers, data.contract.headers.rateRemaining),
    rateReset: headerNumber(said?.headers, data.contract.headers.rateReset),
    flags: flags.reusedConnection,
  })
}

function push({ plan, key, template }: Entry, change: Partial<AttemptRow>): void {
  const source = key < 0 || !plan.sendsKey ? null : data.keys[key]!
  batch.push(
    {
      ...blank,
      runId: data.runId,
      slot: slot++,
      shard,
      phase: run.name,
      part: run.part,
      step: plan.step.name,
      template,
      keyFp: source === null ? null : fingerprints[key]!,
      account: source?.account ?? null,
      endpoint: plan.step.endpoint,
      model: plan.step.model,
      expects: plan.step.wrong ?? 'ok',
      ...rounded(change),
    },
    words,
  )
  if (batch.full) hand()
}

const fingerprints = data.keys.map((key) => fingerprintOf(key.key))

function rounded(change: Partial<AttemptRow>): Partial<AttemptRow> {
  const times = ['intendedUs', 'dispatchedUs', 'sentUs', 'doneUs', 'closedUs'] as const
  const whole = Object.fromEntries(
    times.map((name) => {
      const value = change[name]
      return [name, typeof value === 'number' ? Math.round(value) : (value ?? null)]
    }),
  )
  return { ...change, ...whole }
}

function hand(): void {
  rows += batch.rows
  const message: ToRecorder = {
    batch: { buffer: batch.buffer, rows: batch.rows, newWords: words.takeNew() },
    templates: templates.splice(0),
    bodies: [],
    last: false,
  }
  data.recorder.postMessage(message, [batch.buffer])
  batch = new Batch()
}

function report(): void {
  const atUs = now()
  say({
    type: 'report',
    shard,
    atUs,
    steps: phase.takeCounts().map((counted) => ({ ordinal: run.ordinal, ...counted })),
    keys: [],
    inFlight: data.connections,
    flightSeconds: flightUs / 1e6,
    health: health.take({
      runId: data.runId,
      shard,
      atUs,
      lagP99Us: null,
      inFlight: data.connections,
      queuedBatches: 0,
    }),
  })
}

let ended = false
async function end(refused: 'budget' | null = null): Promise<void> {
  if (ended) return
  ended = true
  clearTimeout(stopAt)
  clearInterval(reports)
  // What was in flight is left there on purpose, and is a row too.
  const endUs = now()
  cannon.removeAllListeners('response')
  cannon.removeAllListeners('reqError')
  for (const [client, fromUs] of since) {
    // Its own stop lets connections send on until its next tick, up to a second later.
    ;(client as unknown as { destroy(): void }).destroy()
    if (connections < 1) continue
    const entry = entryOf(client)
    const counters = phase.countersOf(entry.plan.index)
    counters.planned++
    counters.ended('aborted')
    flightUs += endUs - fromUs
    push(entry, {
      outcome: 'aborted',
      reason: 'stopped',
      intendedUs: fromUs,
      dispatchedUs: fromUs,
      sentUs: fromUs,
      closedUs: endUs,
    })
  }
  if (refused !== null) {
    const counters = phase.countersOf(entries[0]!.plan.index)
    counters.planned++
    counters.ended('not_sent')
    push(entries[0]!, { outcome: 'not_sent', reason: refused, intendedUs: endUs })
  }
  cannon.stop()
  if (batch.rows > 0) hand()
  data.recorder.postMessage({ batch: null, templates, bodies: [], last: true } satisfies ToRecorder)
  report()
  say({ type: 'issued', shard, ordinal: run.ordinal, atUs: now() - beganUs, slotEnd: slot })
  say({ type: 'finished', shard, rows, ...health.whole() })
  health.stop()
  port.close()
  data.recorder.close()
}

// Before anything was sent: connections are not open yet.
if (connections < 1) void end('budget')
