import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../src/attempt/evidence.ts'
import { fingerprintOf } from '../../src/attempt/fingerprint.ts'
import { type AuditReport, audit } from '../../src/audit/audit.ts'
import { AttemptClient, deadlinesOf } from '../../src/client/call/client.ts'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  templateRow,
} from '../../src/client/call/request.ts'
import { sendOnce } from '../../src/client/call/send-once.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import type { Contract, FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { DeploymentProfile } from '../../src/contract/profile.ts'
import type { Phase } from '../../src/scenario/loads.ts'
import type { Scenario } from '../../src/scenario/scenario.ts'
import type { Step } from '../../src/scenario/steps.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import { type RunningService, startService } from '../../src/service/start.ts'
import { appendAttempts, Recorder } from '../../src/store/attempts/recorder.ts'
import { endRun, startRun } from '../../src/store/runs/runs.ts'
import { openStore, type Store } from '../store/opened.ts'

/** Answers that take a short real time: streams come in several reads. */
const quick = {
  timeToFirstUs: { kind: 'constant', value: 1_000 },
  betweenTokensUs: { kind: 'constant', value: 150 },
  lengthTokens: { kind: 'constant', value: 24 },
} as const

/** The sender: a key, and the account of its rows. */
export interface Sender {
  readonly apiKey: string
  readonly account: string
}

/**
 * One service with some faults and some legal answers, and everything that is sent to it: real
 * requests over real sockets, recorded as a run, while the clock jumps in place of waits.
 */
export class Stage {
  readonly service: RunningService
  readonly contract: FullContract
  readonly runId: string
  readonly rows: AttemptRow[] = []
  /** An honest service that played the same act, recorded with this one and not audited. */
  beside: Stage | null = null
  /** Of the run, as stored. */
  scenarioJson = '{}'
  private readonly recordedAs: string | null
  private readonly bodies: BodyRow[] = []
  private readonly templates = new Map<string, TemplateRow>()
  private readonly transport
  /** Where no clock moves during a request; else each has its own. */
  private readonly client: AttemptClient | null
  private readonly beganUs: number
  private nextSlot = 0

  private constructor(
    service: RunningService,
    contract: FullContract,
    runId: string,
    recordedAs: string | null,
    isCalm: boolean,
  ) {
    this.recordedAs = recordedAs
    this.service = service
    this.contract = contract
    this.runId = runId
    this.beganUs = service.operator.nowUs()
    this.transport = new Http1Transport({
      origin: service.baseUrl,
      maxConnections: Number.POSITIVE_INFINITY,
      connectTimeoutMs: 5_000,
    })
    this.client = isCalm
      ? new AttemptClient({
          transport: this.transport,
          contract,
          now: () => this.now(),
          deadlines: deadlinesOf(contract),
        })
      : null
  }

  /**
   * @param recordedAs the base URL of its run; its own if absent
   * @param isCalm whether the clock is moved between requests alone
   */
  static async open(
    options: ServiceOptions,
    runId: string,
    recordedAs: string | null = null,
    isCalm = false,
  ): Promise<Stage> {
    // Another seed gives other keys: stages that are audited together share no accounts.
    const seed = [...runId].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 2 ** 31
    const service = await startService({ seed, shape: quick, ...options })
    return new Stage(service, options.contract ?? defaultContract, runId, recordedAs, isCalm)
  }

  async close(): Promise<void> {
    this.client?.close()
    await this.transport.close()
    await this.service.close()
  }

  /** The ready key of an account. */
  sender(name: string): Sender {
    const ready = this.service.keys.find((key) => key.name === name)!
    return { apiKey: ready.apiKey, account: name }
  }

  /** A second key of an account. */
  sibling(name: string): Sender {
    const { account } = this.service.keys.find((key) => key.name === name)!
    return { apiKey: this.service.operator.issueKey(account, 'sibling'), account: name }
  }

  now(): number {
    return this.service.operator.nowUs() - this.beganUs
  }

  /** Moves the clocks of the service and of the record together. */
  rest(seconds: number): void {
    this.service.operator.advance(seconds * 1e6)
  }

  async send(
    sender: Sender,
    change: Partial<RequestSpec> = {},
    at: Partial<AttemptRow> = {},
  ): Promise<AttemptRow> {
    const slot = at.slot ?? this.nextSlot++
    const spec: RequestSpec = {
      ...plainRequest,
      model: 'svc-k2',
      messages: [{ role: 'user', content: 'Hello.' }],
      maxTokens: 8,
      ...change,
    }
    const template = buildTemplate(this.contract, '', spec)
    const request = prepareRequest(template, sender.apiKey)
    const told = this.tell(template, spec)
    const intendedUs = this.now()
    const { columns, captured } = await sendOnce(this.transport, request, {
      contract: this.contract,
      now: () => this.now(),
      ...(this.client === null ? {} : { client: this.client }),
    })
    const bad = spec.wrong?.endsWith('-key') === true
    const row: AttemptRow = {
      ...columns,
      runId: this.runId,
      slot,
      retry: 0,
      shard: 0,
      answer: null,
      task: null,
      taskTurn: null,
      deadlines: null,
      missedDeadlines: null,
      phase: 'stage',
      part: 'steady',
      step: 'step',
      session: null,
      turn: null,
      template: told.template,
      keyFp: bad ? null : fingerprintOf(sender.apiKey),
      account: bad ? null : `${this.runId}:${sender.account}`,
      endpoint: spec.endpoint,
      streamed: spec.stream ? 1 : 0,
      model: spec.model,
      expects: spec.wrong ?? 'ok',
      intendedUs,
      ...at,
    }
    this.rows.push(row)
    if (captured !== null)
      this.bodies.push({ runId: this.runId, slot, retry: row.retry, ...captured })
    return row
  }

  /** Repeats a request under the same slot until it is not a failure that a client would retry. */
  async sendWithRetries(sender: Sender, change: Partial<RequestSpec> = {}): Promise<void> {
    const slot = this.nextSlot++
    for (let retry = 0; retry < 4; retry++) {
      const row = await this.send(sender, change, { slot, retry })
      if (row.status !== 429 && (row.status ?? 0) < 500) return
      this.rest(1.5 * 2 ** retry)
    }
  }

  async together(count: number, send: (nth: number) => Promise<unknown>): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, nth) => send(nth)))
  }

  /** Plays a scenario by its phases, its steps in turn; the clock jumps over think times. */
  async play(scenario: Scenario, sender: Sender): Promise<void> {
    for (const phase of scenario.phases) await this.playPhase(scenario, phase, sender)
  }

  private async playPhase(scenario: Scenario, phase: Phase, sender: Sender): Promise<void> {
    const { load } = phase
    if (load.kind !== 'concurrency') throw new Error(`${phase.name}: only users are played`)
    const names = phase.steps.length > 0 ? phase.steps : scenario.steps.map((step) => step.name)
    const steps = names.map((name) => scenario.steps.find((step) => step.name === name)!)
    const thinkS = load.think.kind === 'fixed' ? load.think.us / 1e6 : 0
    let next = 0
    await this.together(load.toUsers, async () => {
      while (next < phase.maxRequests!) {
        await this.send(sender, specOf(steps[next++ % steps.length]!), { phase: phase.name })
        if (thinkS > 0) this.rest(thinkS)
      }
    })
  }

  private tell(template: ReturnType<typeof buildTemplate>, spec: RequestSpec): TemplateRow {
    const key = JSON.stringify([
      spec.endpoint,
      spec.wrong,
      template.method,
      template.path,
      template.headers,
      Buffer.from(template.body).toString('base64'),
      spec.auth,
    ])
    const known = this.templates.get(key)
    if (known !== undefined) return known
    const row = templateRow(template, {
      runId: this.runId,
      template: this.templates.size,
      step: 'step',
    })
    this.templates.set(key, row)
    return row
  }

  /** Enters the run with all its rows. */
  async record(store: Store): Promise<void> {
    await this.beside?.record(store)
    await startRun(store, {
      runId: this.runId,
      kind: 'run',
      scenario: 'matrix',
      scenarioJson: this.scenarioJson,
      seed: 7,
      baseUrl: this.recordedAs ?? this.service.baseUrl,
      contract: this.contract.name,
      startedAtUs: this.beganUs,
      timeScale: 1,
      assayVersion: '0',
      machineJson: '{}',
    })
    await appendAttempts(store, this.rows)
    const recorder = await Recorder.open(store)
    recorder.append('templates', [...this.templates.values()])
    recorder.appendBodies(this.bodies)
    recorder.flush()
    await recorder.close()
    const endedUs = Math.max(0, ...this.rows.map(({ closedUs }) => closedUs ?? 0))
    await endRun(store, this.runId, {
      endedUs,
      attemptCountsJson: '{}',
      verdict: 'valid',
      verdictJson: '[]',
    })
  }
}

/** At least as many words as a synthetic prompt has tokens. */
function wordsOf(prompt: Step['prompt']): string {
  const fixed = prompt.kind === 'synthetic' && prompt.tokens.kind === 'fixed'
  const count = fixed ? prompt.tokens.tokens : prompt.kind === 'sentence' ? 8 : 300
  return Array.from({ length: count }, (_, at) => `word${at}`).join(' ')
}

function specOf(step: Step): Partial<RequestSpec> {
  const { prompt } = step
  const content = prompt.kind === 'text' ? prompt.text : wordsOf(prompt)
  return {
    endpoint: step.endpoint,
    stream: step.stream,
    model: step.model,
    messages: [{ role: 'user', content }],
    system: step.system,
    maxTokens: step.maxTokens,
    headers: step.headers,
    // As in the runner: null sends none.
    body:
      step.maxTokens === null && step.endpoint === 'messages'
        ? { max_tokens: undefined, ...step.body }
        : step.body,
    wrong: step.wrong,
    abort: step.abort,
    ...(step.path === null ? {} : { path: step.path }),
    ...(step.method === null ? {} : { method: step.method }),
  }
}

/** Audits stages together, as runs in one store. */
export async function auditStages(
  stages: readonly Stage[],
  contract: Contract,
  more: { readonly rules?: readonly string[]; readonly profile?: DeploymentProfile } = {},
): Promise<AuditReport> {
  const store = await openStore(':memory:')
  try {
    for (const stage of stages) await stage.record(store)
    return await audit(store, {
      ...more,
      contract,
      runIds: stages.map((stage) => stage.runId),
      auditId: 'matrix',
      auditedAt: new Date(0),
    })
  } finally {
    store.close()
  }
}
