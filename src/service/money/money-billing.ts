import type { PriceTerms } from '../../contract/prices.ts'
import type { Rational } from '../../money/rational.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Answer } from '../generate.ts'
import { noteOf } from '../honest/billing.ts'
import { hashText } from '../random.ts'
import { billFor } from './bill.ts'
import { Book } from './book.ts'
import { type Charge, honestCharge, type Making, making } from './charge.ts'
import type { Conduct } from './conducts.ts'
import type { ActiveMoneyFault, Enforcement } from './faults/money-fault.ts'
import type { Counts, Metered } from './metered.ts'
import { type Incoming, Meter } from './metering.ts'
import { value } from './sheet.ts'
import { atStart, Showing } from './showing.ts'
import { SpendLog } from './spend-log.ts'

/** What is known of a priced request while it is answered. */
interface Held {
  readonly incoming: Incoming
  readonly deposit: Rational
  /** What the balance shows as taken. */
  readonly shownUnits: bigint
  readonly heldUnits: bigint
  readonly isResent: boolean
  readonly isRepeated: boolean
  outcome: Metered['outcome'] | null
  charge: Charge | null
}

const resendUs = 1e6
const lateUs = 1e6
/** For a deposit only: the longest that a request by the second is assumed to take. */
const assumedS = 60
const richTimes = 100n

/**
 * Bills by the prices of a contract, in its currency. It replaces the functions of whole credits, and
 * shows the charge where the contract's evidence says: in a header, in the body, in the log, in the
 * balance. Faults change a charge after it is made, in the places where they show.
 */
export class MoneyBilling {
  readonly book: Book
  readonly log: SpendLog
  readonly #kit: Kit
  readonly #terms: PriceTerms
  readonly #faults: readonly ActiveMoneyFault[]
  readonly #conducts: ReadonlySet<Conduct>
  readonly #meter: Meter
  readonly #showing: Showing
  readonly #held = new WeakMap<Call, Held>()
  readonly #seen = new Map<string, { readonly atUs: number; isAnswered: boolean }>()

  constructor(
    kit: Kit,
    terms: PriceTerms,
    faults: readonly ActiveMoneyFault[],
    conducts: ReadonlySet<Conduct>,
    writeRow: ((line: string) => void) | null,
  ) {
    this.#kit = kit
    this.#terms = terms
    this.#faults = faults
    this.#conducts = conducts
    this.#meter = new Meter(terms, kit.random, conducts.has('cache-loses'))
    this.book = new Book(terms.currency, (account) => kit.ledger.balance(account).balance)
    this.#showing = new Showing(terms, this.book, conducts)
    this.log = new SpendLog(terms, this.book, writeRow)
  }

  /** The spend that the service shows. */
  shownSpend(account: number): bigint {
    const { clock } = this.#kit
    const spent = this.#conducts.has('late-spend')
      ? this.book.spentInBatches(account, clock.nowUs())
      : this.book.spent(account)
    return spent + (this.#taken.get(account) ?? 0n)
  }

  readonly #taken = new Map<number, bigint>()

  /** The functions of the service that bill in credits otherwise. */
  over(below: Behaviour): Partial<Behaviour> {
    const { book } = this
    return {
      available: (call) =>
        call.key === null ? 0 : Math.floor(Number(book.text(this.#free(call.key.accountId)))),
      price: (call) => this.#estimate(call),
      affords: (call) => this.#affords(call),
      reserve: (call) => this.#reserve(call, below),
      settle: (call, usage) => {
        const held = this.#held.get(call)
        if (held === undefined) return below.settle(call, usage)
        const outcome = held.outcome ?? (usage.completionTokens === 0 ? 'empty' : 'success')
        this.#charge(call, held, this.#outputOf(call, held, usage.completionTokens), outcome, below)
      },
      release: (call) => {
        const held = this.#held.get(call)
        if (held === undefined) return below.release(call)
        this.#charge(call, held, call.piecesSent, call.piecesSent > 0 ? 'broken' : 'refused', below)
      },
      onLeave: (call) => {
        const held = this.#held.get(call)
        if (held !== undefined) held.outcome = 'abort'
        return held === undefined ? below.onLeave(call) : 'settle'
      },
      creditsHeader: (call) =>
        call.key === null ? null : book.text(this.#balance(call.key.accountId)),
      answer: (call) => this.#answer(call, below),
      generate: (call, sink) => this.#generate(call, sink, below),
      completion: (call, answer, usage) => {
        const held = this.#held.get(call)
        const body = below.completion(call, answer, usage)
        return held === undefined ? body : this.#showing.body(held, body)
      },
      events: (call, moment) => {
        const held = this.#held.get(call)
        const events = below.events(call, moment)
        return held === undefined ? events : this.#showing.events(held, events, moment.at)
      },
      headers: (call, status, headers) => {
        this.#addHeaders(call, status, headers)
        return below.headers(call, status, headers)
      },
    }
  }

  #balance(account: number): bigint {
    return this.book.granted(account) - this.shownSpend(account)
  }

  #free(account: number): bigint {
    return this.book.granted(account) - this.book.spent(account) - this.book.held(account)
  }

  /** The fault of enforcement that strikes, if any. */
  #enforcement(): Enforcement {
    const struck = this.#faults.find(
      ({ fault, strikes }) => fault.enforcement !== undefined && strikes(this.#kit.random),
    )
    return struck?.fault.enforcement ?? 'honest'
  }

  readonly #prepared = new WeakMap<
    Call,
    { readonly incoming: Incoming; readonly deposit: Rational }
  >()

  /** Counts the input and computes the most that the request can cost. */
  #estimate(call: Call): number {
    const { contract, clock } = this.#kit
    const nowUs = clock.nowUs()
    const incoming = this.#meter.incoming(call, nowUs)
    if (incoming === null || call.request === null) return 0
    const most = Math.min(call.request.maxTokens, contract.limits.maxOutputTokens) * call.request.n
    const whole = { choices: [], promptTokens: call.promptTokens, completionTokens: most }
    const metered = this.#meter.metered(call, incoming, most, whole, 'success', nowUs)
    const bill = billFor(this.#terms, {
      ...metered,
      counts: { ...metered.counts, output_visible: 0, reasoning: most },
      calls: { ...metered.calls, second: assumedS },
    })
    const plain = billFor(this.#terms, {
      ...metered,
      calls: { ...metered.calls, second: assumedS },
    })
    const deposit = value(bill.cost) > value(plain.cost) ? bill.cost : plain.cost
    this.#prepared.set(call, { incoming, deposit })
    const account = call.key?.accountId ?? 0
    call.money = {
      price: this.book.text(this.book.unitsOf(deposit)),
      balance: this.book.text(this.#free(account)),
      currency: this.#terms.currency.name,
    }
    return Math.ceil(value(deposit))
  }

  #affords(call: Call): boolean {
    const prepared = this.#prepared.get(call)
    if (prepared === undefined || call.key === null) return true
    const account = call.key.accountId
    const units = this.book.unitsOf(prepared.deposit)
    switch (this.#enforcement()) {
      case 'honest':
        return this.#free(account) >= units
      case 'overdraft':
        return this.book.granted(account) - this.book.spent(account) > 0n
      case 'counter-doubled': {
        const counted = 2n * this.book.spent(account)
        const granted = this.book.granted(account)
        if (granted - counted >= units) return true
        call.money = {
          ...call.money!,
          counter: `${this.book.text(counted)} of ${this.book.text(granted)}`,
        }
        return false
      }
      case 'budget-ignored':
        return true
    }
  }

  #reserve(call: Call, below: Behaviour): number | null {
    const prepared = this.#prepared.get(call)
    if (prepared === undefined || call.key === null) return below.reserve(call)
    const account = call.key.accountId
    const units = this.book.unitsOf(prepared.deposit)
    const nowUs = this.#kit.clock.nowUs()
    const name = `${call.key.id} ${hashText(call.body.toString('latin1'))} ${call.body.length}`
    const before = this.#seen.get(name)
    const isResent = before !== undefined && !before.isAnswered && nowUs - before.atUs <= resendUs
    const isRepeated = this.#conducts.has('gateway-cache') && before?.isAnswered === true
    if (before === undefined || !before.isAnswered) {
      this.#seen.set(name, { atUs: nowUs, isAnswered: false })
    }
    const isRich = this.#conducts.has('rich-no-deposit') && this.#free(account) > richTimes * units
    const shows =
      (this.#conducts.has('deposit') || this.#conducts.has('rich-no-deposit')) && !isRich
    this.book.hold(account, units)
    const shownUnits = shows ? units : 0n
    this.#taken.set(account, (this.#taken.get(account) ?? 0n) + shownUnits)
    this.#held.set(call, {
      ...prepared,
      shownUnits,
      heldUnits: units,
      isResent,
      isRepeated,
      outcome: isRepeated ? 'gateway_cache' : null,
      charge: null,
    })
    return Math.floor(Number(this.book.text(this.#free(account))))
  }

  /** The output that the charge counts. */
  #outputOf(call: Call, { incoming, outcome }: Held, completionTokens: number): number {
    if (outcome !== 'abort') return completionTokens
    const charged = incoming.model.charged.abort
    // A plain answer that the client left has none of its tokens.
    if (charged !== 'full') return call.request?.stream === true ? completionTokens : 0
    return this.#whole(call).completionTokens
  }

  readonly #wholes = new WeakMap<Call, Answer>()

  #whole(call: Call): Answer {
    return this.#wholes.get(call) ?? { choices: [], promptTokens: 0, completionTokens: 0 }
  }

  #charge(
    call: Call,
    held: Held,
    outputTokens: number,
    given: Metered['outcome'],
    below: Behaviour,
  ): void {
    const { clock, random, ledger } = this.#kit
    const account = call.key!.accountId
    const nowUs = clock.nowUs()
    const whole = this.#whole(call)
    const outcome = held.incoming.steering.isFiltered && given === 'empty' ? 'filtered' : given
    const metered = this.#meter.metered(call, held.incoming, outputTokens, whole, outcome, nowUs)
    const wholeCounts: Counts = this.#meter.metered(
      ...([call, held.incoming, whole.completionTokens, whole, outcome, nowUs] as const),
    ).counts
    const made = making(this.#terms, metered, {
      deposit: held.deposit,
      whole: wholeCounts,
      atStart: call.endpoint === 'messages' && outputTokens > 0 ? atStart : 0,
      isResent: held.isResent,
    })
    let charge = honestCharge(made)
    for (const { fault, where, strikes } of this.#faults) {
      if (fault.enforcement !== undefined || fault.isLate) continue
      const wrong = fault.distort(charge, made, where)
      if (wrong !== null && strikes(random)) charge = wrong
    }
    held.charge = charge
    this.book.hold(account, -held.heldUnits)
    this.#taken.set(account, (this.#taken.get(account) ?? 0n) - held.shownUnits)
    this.#post(account, charge, 1n)
    const id = below.responseId(call)
    this.log.write(call, id, account, metered, charge, nowUs)
    if (outcome === 'success') this.#correctLate(call, id, made, charge)
    // The pages count requests and tokens in the ledger, without credits.
    const usage = {
      promptTokens: call.promptTokens,
      completionTokens: outputTokens,
      totalTokens: 0,
    }
    ledger.charge(account, 0, 0, noteOf(call, usage))
    const name = `${call.key!.id} ${hashText(call.body.toString('latin1'))} ${call.body.length}`
    const seen = this.#seen.get(name)
    if (seen !== undefined) seen.isAnswered = outcome === 'success' || outcome === 'gateway_cache'
  }

  #post(account: number, { postings }: Charge, sign: bigint): void {
    const nowUs = this.#kit.clock.nowUs()
    for (const amount of postings) {
      this.book.post(account, sign * this.book.unitsOf(amount), nowUs)
    }
  }

  /** Some faults change a charge after the answer, once its client closes the connection. */
  #correctLate(call: Call, id: string, made: Making, charge: Charge): void {
    const { clock, random } = this.#kit
    const account = call.key!.accountId
    const latestUs = clock.nowUs() + lateUs
    for (const { fault, where, strikes } of this.#faults) {
      const wrong = fault.isLate ? fault.distort(charge, made, where) : null
      if (wrong === null || !strikes(random)) continue
      call.incoming.onClosed(() => {
        if (clock.nowUs() > latestUs) return
        this.#post(account, charge, -1n)
        this.#post(account, wrong, 1n)
        this.log.amend(account, id, wrong)
      })
    }
  }

  #answer(call: Call, below: Behaviour): Answer {
    const answer = below.answer(call)
    this.#wholes.set(call, answer)
    const { isEmpty, isFiltered } = this.#held.get(call)?.incoming.steering ?? {}
    if (isEmpty !== true && isFiltered !== true) return answer
    const choices = answer.choices.map((choice) => ({ ...choice, pieces: [], reasoning: [] }))
    if (isEmpty === true) this.#wholes.set(call, { ...answer, choices, completionTokens: 0 })
    return { ...answer, choices, completionTokens: 0 }
  }

  #generate(call: Call, sink: Parameters<Behaviour['generate']>[1], below: Behaviour): () => void {
    if (this.#held.get(call)?.incoming.steering.breaksOff !== true)
      return below.generate(call, sink)
    const failure = { kind: 'unavailable', message: 'the upstream broke off' } as const
    if (call.request?.stream !== true) {
      return below.generate(call, {
        pieces: () => {},
        done: () => sink.fail(failure),
        fail: (refusal) => sink.fail(refusal),
      })
    }
    let isOver = false
    const breaks = () => {
      if (!isOver) sink.fail(failure)
      isOver = true
    }
    return below.generate(call, {
      pieces: (pieces) => {
        if (isOver) return undefined
        const room = sink.pieces(pieces)
        if (call.piecesSent * 2 >= this.#whole(call).completionTokens) breaks()
        return room
      },
      done: breaks,
      fail: (refusal) => sink.fail(refusal),
    })
  }

  #addHeaders(call: Call, status: number, headers: Record<string, string>): void {
    const charge = this.#held.get(call)?.charge
    const { cost, balance } = this.#terms.evidence
    if (status === 200 && charge?.stated != null) {
      for (const place of cost) {
        if ('header' in place) headers[place.header] = this.#showing.amount(charge, place.times)
      }
    }
    if (balance?.header != null && call.key !== null && call.endpoint !== 'other') {
      const account = call.key.accountId
      const units = balance.moves === 'up' ? this.shownSpend(account) : this.#balance(account)
      headers[balance.header] = this.book.text(units)
    }
  }
}
