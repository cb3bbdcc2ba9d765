import type { AttemptRow } from '../attempt/columns.ts'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  type RequestTemplate,
} from '../client/request.ts'
import { type Received, type SendOnceOptions, sendOnce } from '../client/send-once.ts'
import type { Transport } from '../client/transport.ts'
import { bandsAt, type Contract, costOf, windowUs } from '../contract/contract.ts'
import type { LimitedRequest } from '../limits/limited-request.ts'
import type { Recorder } from '../store/recorder.ts'
import { Balances } from './balances.ts'
import type { Budget } from './budget.ts'
import { type ExtraHeader, shownWithExtra, withExtra, withoutSecrets } from './extra-headers.ts'
import { limitedRequestOf } from './limited-request.ts'
import type { Operator } from './operator.ts'
import { type ProbeResponse, probeResponseOf } from './probe-response.ts'
import { cheapestModel, pricesOf } from './question.ts'
import type { SeenFirst } from './questions/when-full.ts'
import { Recording } from './recording.ts'

export interface ProberOptions {
  readonly runId: string
  readonly contract: Contract
  readonly transport: Transport
  readonly recorder: Recorder
  readonly budget: Budget
  readonly basePath: string
  readonly apiKey: string
  readonly secondKey: string | null
  /** Sent with each request. */
  readonly headers?: readonly ExtraHeader[]
  readonly operator: Operator | null
  /** Seconds of the service's time in one of ours. */
  readonly timeScale: number
  /** Monotonic microseconds since the run began. */
  readonly now: () => number
  readonly sleep: (us: number) => Promise<void>
  readonly signal: AbortSignal
}

export interface SendOptions {
  /** Shown in the column `step`. */
  readonly step?: string
  /** `ok`, the error that it is built to meet, or `any` where that is the question. */
  readonly expects?: string
  /** Whether a 429 is waited for, and a 5xx asked again; not where the limiter itself is asked. */
  readonly patient?: boolean
  readonly second?: boolean
  readonly onHead?: SendOnceOptions['onHead']
  readonly onEvent?: SendOnceOptions['onEvent']
}

/** A stop by the user: what was answered is kept. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/**
 * What questions ask through: requests are paid from the budget, recorded as attempts of the
 * run, and paced so that the probe's own traffic does not meet the limits that it asks about.
 */
export class Prober {
  readonly options: ProberOptions
  readonly contract: Contract
  readonly operator: Operator | null
  readonly recording: Recording
  /** Everything that came back, for questions that look back over it. */
  readonly responses: ProbeResponse[] = []
  /** The same as the limiter saw them, in the service's time. */
  readonly limited: LimitedRequest[] = []
  /** The question that is being asked, as the column `phase`. */
  phase = ''
  /** How the balance is read. */
  readonly balances = new Balances(this)
  /** What a request that is also wrong gets while the limit is used up, once that was asked. */
  whenFull: SeenFirst | null = null
  /** Credits that a read may cost: unknown is one. */
  readCredits = 1
  private slot = 0
  private jumpedUs = 0
  /** How often the balance was set: a ledger of the account holds in between only. */
  private balanceEra = 0

  constructor(options: ProberOptions) {
    this.options = options
    this.contract = options.contract
    this.operator = options.operator
    this.recording = new Recording(options.runId, options.recorder)
  }

  /** Microseconds since the run began, jumps of the service's clock included. */
  now(): number {
    return this.options.now() + this.jumpedUs
  }

  get model(): string {
    return cheapestModel(this.contract).id
  }

  /** A small paid request, to be varied. */
  get plain(): RequestSpec {
    return {
      ...plainRequest,
      model: this.model,
      messages: [{ role: 'user', content: 'Say hello in a few words.' }],
      maxTokens: 16,
    }
  }

  chat(change: Partial<RequestSpec> = {}, options: SendOptions = {}): Promise<ProbeResponse> {
    return this.send({ ...this.plain, endpoint: 'chat', ...change }, options)
  }

  messages(change: Partial<RequestSpec> = {}, options: SendOptions = {}): Promise<ProbeResponse> {
    return this.send({ ...this.plain, endpoint: 'messages', ...change }, options)
  }

  read(
    endpoint: 'models' | 'credits',
    change: Partial<RequestSpec> = {},
    options: SendOptions = {},
  ): Promise<ProbeResponse> {
    return this.send({ ...plainRequest, endpoint, auth: 'both', ...change }, options)
  }

  /**
   * Sends one request, and again after a rejection or a failure of the service (5xx) unless told
   * otherwise: those say nothing of what was asked, unless they stay.
   *
   * @throws BudgetError before anything is sent that might pass the bound
   * @throws Interrupted when the user stopped the probe
   */
  async send(spec: RequestSpec, options: SendOptions = {}): Promise<ProbeResponse> {
    let waitUs = windowUs.minute / 20
    for (let failures = 0; ; ) {
      const response = await this.sendOnce(spec, options)
      if ((response.status ?? 0) >= 500 && options.patient !== false && failures < mostFailures) {
        await this.options.sleep(200_000 * 4 ** failures++)
        continue
      }
      if (response.status !== 429 || options.patient === false || waitUs > 2 * windowUs.minute) {
        return response
      }
      await this.rest(response.columns.retryAfter === null ? waitUs : waitOf(response, waitUs))
      waitUs *= 4
    }
  }

  /** The balance while nothing is in flight; null where it cannot be read. */
  idleBalance(mostReads?: number): Promise<number | null> {
    return this.balances.idle(mostReads)
  }

  /** @throws Interrupted when the user stopped the probe: what is in flight then ends as if by the service */
  mustGoOn(): void {
    if (this.options.signal.aborted) throw new Interrupted('stopped')
  }

  /** Lets the service's time pass: by its operator's clock where there is one, else by waiting. */
  async rest(serviceUs: number): Promise<void> {
    this.mustGoOn()
    if (this.operator === null) {
      await this.options.sleep(serviceUs / this.options.timeScale)
    } else {
      await this.operator.advance(serviceUs)
      this.jumpedUs += serviceUs / this.options.timeScale
    }
    this.mustGoOn()
  }

  /** Sets the balance through the operator; to be called only where there is one. */
  async setBalance(credits: number): Promise<void> {
    this.balanceEra++
    await this.operator!.setBalance(credits)
    this.options.budget.forgetBalance()
  }

  /** Requests of a minute by the last limit header that named one, or by the balance. */
  async minuteLimit(): Promise<number | null> {
    const minutes = this.contract.bands.map((band) => band.requests.minute)
    const shown = this.responses
      .map(({ columns }) => columns.rateLimit)
      .findLast((limit) => limit !== null && minutes.includes(limit))
    if (shown !== undefined) return shown
    const balance = await this.balances.read()
    return balance === null
      ? null
      : (bandsAt(this.contract, balance).at(-1)?.requests.minute ?? null)
  }

  /**
   * Waits until so many requests fit the limit of the minute, whichever of those before them it counts.
   *
   * @returns microseconds of the service's time in which a limiter that paces lets one more in; 0 if unknown
   */
  async roomFor(requests: number): Promise<number> {
    const limit = await this.minuteLimit()
    if (limit === null) return 0
    const nowUs = this.now() * this.options.timeScale
    const lastMinute = this.limited.filter(({ untilUs }) => untilUs > nowUs - windowUs.minute)
    const tooMany = Math.min(lastMinute.length, lastMinute.length + requests - limit)
    if (tooMany > 0) await this.rest(lastMinute[tooMany - 1]!.untilUs + windowUs.minute - nowUs)
    return windowUs.minute / limit
  }

  private async sendOnce(spec: RequestSpec, options: SendOptions): Promise<ProbeResponse> {
    const { budget, transport, contract, signal } = this.options
    this.mustGoOn()
    const key = options.second ? this.options.secondKey! : this.options.apiKey
    const template = buildTemplate(contract, this.options.basePath, spec)
    const { headers = [] } = this.options
    const request = withExtra(prepareRequest(template, key), headers)
    const price = this.priceOf(spec, template.n)
    budget.reserve(price)
    const intendedUs = this.now()
    const sent = await sendOnce(transport, request, {
      contract,
      now: () => this.now(),
      captureBytes: 1 << 20,
      signal,
      ...(options.onHead === undefined ? {} : { onHead: options.onHead }),
      ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
    })
    const received = withoutSecrets(sent, headers)
    const { columns } = received
    const costsNothing = columns.outcome === 'http_error' || columns.sentUs === null
    if (costsNothing || (price > 0 && isRead(spec) && this.readCredits === 0))
      budget.giveBack(price)
    const sendsKey =
      spec.wrong !== 'invalid-key' && spec.wrong !== 'missing-key' && spec.auth !== 'none'
    const row = this.rowOf(spec, options, {
      intendedUs,
      columns,
      keyFp: sendsKey ? fingerprintOf(key) : null,
      template: this.recording.templateOf(
        shownWithExtra(template, headers),
        options.step ?? spec.endpoint,
      ),
    })
    this.recording.record(row, received)
    const response = probeResponseOf(spec, row, received)
    this.responses.push(response)
    this.balances.note(response)
    if (sendsKey && columns.sentUs !== null) {
      const limited = limitedRequestOf(row, contract, this.options.timeScale)
      this.limited.push({ ...limited, key: keysSent(limited.key, template, contract) })
    }
    return response
  }

  /** Credits that a request may cost. */
  private priceOf(spec: RequestSpec, n: number | null): number {
    if (isRead(spec)) return this.readCredits
    const { most } = pricesOf(this.contract)
    const each = spec.model === null ? most : (costOf(this.contract, spec.model) ?? most)
    return each * Math.max(1, n ?? 1)
  }

  private rowOf(
    spec: RequestSpec,
    options: SendOptions,
    {
      intendedUs,
      columns,
      keyFp,
      template,
    }: Pick<AttemptRow, 'intendedUs' | 'keyFp' | 'template'> & Pick<Received, 'columns'>,
  ): AttemptRow {
    return {
      runId: this.options.runId,
      slot: this.slot++,
      retry: 0,
      shard: 0,
      phase: this.phase,
      part: 'steady',
      step: options.step ?? spec.endpoint,
      session: null,
      turn: null,
      template,
      keyFp,
      account: keyFp === null ? null : this.accountOf(),
      endpoint: spec.endpoint,
      streamed: spec.stream ? 1 : 0,
      model: spec.model,
      expects: options.expects ?? spec.wrong ?? 'ok',
      intendedUs,
      ...columns,
    }
  }

  /** Both keys are of one account; a balance that was set begins a ledger of its own. */
  private accountOf(): string {
    return this.balanceEra === 0 ? 'probed' : `probed, balance set ${this.balanceEra}`
  }
}

/** Failures of the service in a row (5xx) after which one is its answer to the request. */
const mostFailures = 3

function isRead({ endpoint }: RequestSpec): boolean {
  return endpoint === 'models' || endpoint === 'credits' || endpoint === 'other'
}

/** By which headers which key was sent: a limiter may count each by itself, and so does what looks back. */
function keysSent(
  keyFp: string,
  { auth, headers }: RequestTemplate,
  { auth: { chat, messages } }: Contract,
): string {
  const others = headers.filter(([name]) => name === chat.name || name === messages.name)
  const names = [...auth.map(({ name }) => name), ...others.map(([name]) => `other ${name}`)]
  return [keyFp, ...names].join(' ')
}

/** Retry-After where it is short enough to be believed. */
function waitOf({ columns }: ProbeResponse, otherwiseUs: number): number {
  const us = (columns.retryAfter ?? 0) * 1e6
  return us > 0 && us <= 2 * windowUs.minute ? us + 500_000 : otherwiseUs
}
