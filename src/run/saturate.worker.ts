import { parentPort, workerData } from 'node:worker_threads'
import autocannon from 'autocannon'
import { Batch, Words } from '../attempt/batch.ts'
import { type AttemptRow, attemptColumns, columnNames } from '../attempt/columns.ts'
import type { TemplateRow } from '../attempt/evidence.ts'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import { flags } from '../attempt/flags.ts'
import type { Outcome } from '../attempt/outcome.ts'
import { ActivePhase } from './active-phase.ts'
import { runClock } from './clock.ts'
import type { FromSender, PhaseRun, SenderData, ToRecorder } from './messages.ts'
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

/** What autocannon told of the answer whose event comes next. */
let answer: { plan: StepPlan; template: number; body: string; headers: SeenHeaders } | null = null
type SeenHeaders = Readonly<Record<string, unknown>>

/** When each connection sent what it now waits for. */
const since = new Map<autocannon.Client, number>()
let slot = run.slotBase
let flightUs = 0
const beganUs = now()

const requests = plans.map((plan) => {
  const { request, template } = plan.fromPool(0, plan.keyAt(0))
  return {
    method: request.wire.method,
    path: request.wire.path,
    headers: Object.fromEntries(request.wire.headers),
    ...(request.wire.body.length === 0 ? {} : { body: Buffer.from(request.wire.body) }),
    onResponse: (_: number, body: string, __: object, headers: SeenHeaders) => {
      answer = { plan, template, body, headers }
    },
  }
})

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
  const plan = said?.plan ?? plans[0]!
  const judged = judge(status, said?.body ?? '', plan)
  const counters = phase.countersOf(plan.index)
  counters.planned++
  counters.ended(judged.outcome)
  const took = endUs - fromUs
  flightUs += took
  if (judged.outcome === 'ok') {
    counters.credits += plan.credits
    shared.reserve(plan.credits, Infinity)
    counters.good++
    phase.count(plan.index, 'service', took)
    phase.count(plan.index, 'response', took)
  } else {
    counters.failures++
    counters.error(status === null ? 'reset' : String(status))
    phase.count(plan.index, 'failed_service', took)
    phase.count(plan.index, 'failed_response', took)
  }
  counters.judged++
  push(plan, said?.template ?? null, {
    ...judged,
    intendedUs: fromUs,
    dispatchedUs: fromUs,
    sentUs: fromUs,
    doneUs: status === null ? null : endUs,
    closedUs: endUs,
    status,
    bytesIn: bytes,
    creditsRemaining: numberOf(said?.headers, data.contract.headers.creditsRemaining),
    rateLimit: numberOf(said?.headers, data.contract.headers.rateLimit),
    rateRemaining: numberOf(said?.headers, data.contract.headers.rateRemaining),
    rateReset: numberOf(said?.headers, data.contract.headers.rateReset),
    flags: flags.reusedConnection,
  })
}

function push(plan: StepPlan, template: number | null, change: Partial<AttemptRow>): void {
  const key = plan.keyAt(0)
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

interface Judged {
  readonly outcome: Outcome
  readonly reason?: string
  readonly promptTokens?: number | null
  readonly completionTokens?: number | null
}

/** A 2xx with a whole JSON body, as everywhere: never any answer. */
function judge(status: number | null, body: string, plan: StepPlan): Judged {
  if (status === null) return { outcome: 'broken', reason: 'reset' }
  if (status < 200 || status >= 300) return { outcome: 'http_error' }
  try {
    const { usage, choices, content } = JSON.parse(body) as {
      readonly usage?: Readonly<Record<string, number>>
      readonly choices?: unknown
      readonly content?: unknown
    }
    const { endpoint } = plan.step
    const whole =
      endpoint === 'chat'
        ? Array.isArray(choices)
        : endpoint === 'messages'
          ? Array.isArray(content)
          : true
    if (!whole) return { outcome: 'broken', reason: 'malformed-body' }
    return {
      outcome: 'ok',
      promptTokens: usage?.prompt_tokens ?? usage?.input_tokens ?? null,
      completionTokens: usage?.completion_tokens ?? usage?.output_tokens ?? null,
    }
  } catch {
    return { outcome: 'broken', reason: 'malformed-body' }
  }
}

function numberOf(headers: SeenHeaders | undefined, name: string): number | null {
  const entry = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)
  const value = entry === undefined ? Number.NaN : Number(entry[1])
  return Number.isFinite(value) ? value : null
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
    const plan = plans[0]!
    const counters = phase.countersOf(plan.index)
    counters.planned++
    counters.ended('aborted')
    flightUs += endUs - fromUs
    push(plan, null, {
      outcome: 'aborted',
      reason: 'stopped',
      intendedUs: fromUs,
      dispatchedUs: fromUs,
      sentUs: fromUs,
      closedUs: endUs,
    })
  }
  if (refused !== null) {
    const counters = phase.countersOf(plans[0]!.index)
    counters.planned++
    counters.ended('not_sent')
    push(plans[0]!, null, { outcome: 'not_sent', reason: refused, intendedUs: endUs })
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
