import type { AttemptRow } from '../attempt/columns.ts'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  type RequestTemplate,
} from '../client/call/request.ts'
import { type Received, type SendOnceOptions, sendOnce } from '../client/call/send-once.ts'
import type { Transport } from '../client/wire/transport.ts'
import { bandsAt, costOf, type FullContract, windowUs } from '../contract/contract.ts'
import { type PlainRead, takesPrompt } from '../contract/request.ts'
import { windowNamed } from '../limits/band.ts'
import type { LimitedRequest } from '../limits/limited-request.ts'
import type { Recorder } from '../store/attempts/recorder.ts'
import { given } from '../user/given.ts'
import { Balances } from './balances.ts'
import type { ProbeBudget } from './budget.ts'
import { type ExtraHeader, shownWithExtra, withExtra } from './extra-headers.ts'
import { limitedRequestOf } from './limited-request.ts'
import type { Operator } from './operator.ts'
import { cheapestModel, pricesOf } from './prices.ts'
import { type ProbeResponse, probeResponseOf } from './probe-response.ts'
import { Recording } from './recording.ts'
import type { Shown } from './shown.ts'

export interface ProberOptions {
  readonly runId: string
  readonly contract: FullContract
  readonly transport: Transport
  readonly recorder: Recorder
  readonly budget: ProbeBudget
  readonly basePath: string
  readonly apiKey: string
  readonly secondKey: string | null
  /** Sent with each request. */
  readonly headers?: readonly ExtraHeader[]
  readonly operator: Operator | null
  /** Seconds of service time per second. */
  readonly timeScale: number
  /** Monotonic microseconds since the run began. */
  readonly now: () => number
  readonly sleep: (us: number) => Promise<void>
  readonly signal: AbortSignal
}

export interface SendOptions {
  /** For the column `step`. */
  readonly step?: string
  /** `ok`, the expected error, or `any` if the question is open. */
  readonly expects?: string
  /** Whether to wait after a 429 and repeat after a 5xx. False if the question is about the limiter. */
  readonly patient?: boolean
  readonly second?: boolean
  readonly onHead?: SendOnceOptions['onHead']
  readonly onEvent?: SendOnceOptions['onEvent']
}

/** The user stopped the probe. Answers so far are kept. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Sends the requests of questions: paid from the budget, recorded as attempts, paced below the limits that it asks about. */
export class Prober {
  readonly options: ProberOptions
  readonly contract: FullContract
  readonly operator: Operator | null
  readonly recording: Recording
  /** All responses, for questions that look back. */
  readonly responses: ProbeResponse[] = []
  /** The same as the limiter saw them, in the service's time. */
  readonly limited: LimitedRequest[] = []
  /** The current question, for the column `phase`. */
  phase = ''
  readonly balances = new Balances(this)
  /** The response to a request with another mistake while the limit is reached, once asked. */
  whenFull: Shown | null = null
  /** Most credits that a read may cost: 1 until the question of G-17 finds that reads are free (0), or dearer. */
  readCredits = 1
  private slot = 0
  private jumpedUs = 0
  /** Number of changes of the balance. A ledger of the account holds only between two changes. */
  private balanceEra = 0

  constructor(options: ProberOptions) {
    this.options = options
    this.contract = options.contract
    this.operator = options.operator
    this.recording = new Recording(options.runId, options.recorder)
  }

  /** Microseconds since the run began, including moves of the service's clock. */
  now(): number {
    return this.options.now() + this.jumpedUs
  }

  get model(): string {
    return cheapestModel(this.contract).id
  }

  /** A small paid request, for variations. */
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
    endpoint: PlainRead,
    change: Partial<RequestSpec> = {},
    options: SendOptions = {},
  ): Promise<ProbeResponse> {
    return this.send({ ...plainRequest, endpoint, auth: 'both', ...change }, options)
  }

  /**
   * Sends a request, and repeats it after a 429 or 5xx unless told otherwise. If they persist, they are the answer.
   *
   * @throws BudgetError before it sends anything that might exceed the bound
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
      if (response.status !== 429 || options.patient === false || waitUs > 2 * windowUs.minute)
        return response
      await this.rest(waitOf(response, waitUs))
      waitUs *= 4
    }
  }

  /** The balance while nothing is in flight; null if it cannot be read. */
  idleBalance(mostReads?: number): Promise<number | null> {
    return this.balances.idle(mostReads)
  }

  /** @throws Interrupted when the user stopped the probe: requests in flight would look as if the service ended them */
  mustGoOn(): void {
    if (this.options.signal.aborted) throw new Interrupted('stopped')
  }

  /** Lets the service's time pass, by its operator's clock or by waiting. */
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

  async setBalance(credits: number): Promise<void> {
    this.balanceEra++
    await this.operator!.setBalance(credits)
    this.options.budget.forgetBalance()
  }

  /** Whether the balance may be one that the probe set. */
  get hasSetBalance(): boolean {
    return this.balanceEra > 0
  }

  /** The limit per minute, from the last limit header that has one, or from the balance. */
  async minuteLimit(): Promise<number | null> {
    const shown = this.responses
      .map(({ columns }) => columns.rateLimit)
      .findLast((limit) => limit !== null && windowNamed(this.contract, limit) === 'minute')
    if (shown !== undefined) return shown
    const balance = await this.balances.read()
    return balance === null
      ? null
      : (bandsAt(this.contract, balance).at(-1)?.requests.minute ?? null)
  }

  /**
   * Waits until that many requests fit the limit of the minute, even if all earlier ones count. Returns microseconds of service
   * time until a limiter that paces admits one more; 0 if unknown.
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
    const received = await sendOnce(transport, request, {
      contract,
      now: () => this.now(),
      captureBytes: 1 << 20,
      signal,
      ...given({ onHead: options.onHead, onEvent: options.onEvent }),
    })
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

  /** Counts reads at this price, also those that were sent before it was known, if it is above what a read was taken for. */
  readsCost(credits: number): void {
    const more = credits - this.readCredits
    if (more <= 0) return
    this.readCredits = credits
    const sent = this.responses.filter(({ spec, status }) => isRead(spec) && status === 200)
    this.options.budget.reserve(more * sent.length)
  }

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
      answer: null,
      task: null,
      taskTurn: null,
      deadlines: null,
      missedDeadlines: null,
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

  /** Both keys belong to one account. Each change of the balance begins a new ledger. */
  private accountOf(): string {
    return this.balanceEra === 0 ? 'probed' : `probed, balance set ${this.balanceEra}`
  }
}

/** After this many 5xx in a row, the 5xx is the answer. */
const mostFailures = 3

const isRead = ({ endpoint }: RequestSpec): boolean => !takesPrompt(endpoint)

/** The key and the headers that carried it. A limiter may count each combination separately, so analyses do, too. */
function keysSent(
  keyFp: string,
  { auth, headers }: RequestTemplate,
  { auth: { chat, messages } }: FullContract,
): string {
  const others = headers.filter(([name]) => name === chat.name || name === messages.name)
  const names = [...auth.map(({ name }) => name), ...others.map(([name]) => `other ${name}`)]
  return [keyFp, ...names].join(' ')
}

/** Retry-After, if it is plausibly short. */
function waitOf({ columns }: ProbeResponse, otherwiseUs: number): number {
  const us = (columns.retryAfter ?? 0) * 1e6
  return us > 0 && us <= 2 * windowUs.minute ? us + 500_000 : otherwiseUs
}
