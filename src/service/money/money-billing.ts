import type { PriceTerms } from '../../contract/prices.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { noteOf } from '../honest/billing.ts'
import { hashText } from '../random.ts'
import { Book } from './book.ts'
import { type Charge, honestCharge, type Making, making } from './charge.ts'
import type { Conduct } from './conducts.ts'
import type { ActiveMoneyFault } from './faults/money-fault.ts'
import { failedAttempt, settled } from './honest-rows.ts'
import type { Counts, Metered } from './metered.ts'
import { Meter } from './metering.ts'
import { MoneyAdmission, type Prepared } from './money-admission.ts'
import { atStart, Showing } from './showing.ts'
import { SpendLog } from './spend-log.ts'
import { SteeredAnswers } from './steered-answers.ts'

/** What is known of a priced request while it is answered. */
interface Held extends Prepared {
  /** What the balance shows as taken. */
  readonly shownUnits: bigint
  readonly heldUnits: bigint
  readonly isResent: boolean
  readonly isRepeated: boolean
  outcome: Metered['outcome'] | null
  charge: Charge | null
}

/** The first request with a body, which a cache may answer again. */
interface Seen {
  readonly atUs: number
  readonly input: Counts
  isAnswered: boolean
}

const resendUs = 1e6
const lateUs = 1e6
const richTimes = 100n
/** Charges before the period of a spend ends. */
const chargesOfPeriod = 9

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
  readonly #admission: MoneyAdmission
  readonly #answers = new SteeredAnswers((call) => this.#held.get(call)?.incoming.steering)
  readonly #showing: Showing
  readonly #held = new WeakMap<Call, Held>()
  readonly #seen = new Map<string, Seen>()

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
    this.#admission = new MoneyAdmission(kit, terms, faults, this.#meter, this.book)
    this.#showing = new Showing(terms, this.book, conducts)
    this.log = new SpendLog(terms, this.book, writeRow)
  }

  shownSpend(account: number): bigint {
    const { clock } = this.#kit
    this.#looks++
    const isLate =
      this.#conducts.has('late-spend') ||
      (this.#conducts.has('late-worker') && this.#looks % 2 === 0)
    const spent = isLate
      ? this.book.spentInBatches(account, clock.nowUs())
      : this.book.spent(account)
    return spent - this.#spentBefore + (this.#taken.get(account) ?? 0n)
  }

  /** What the period that ended had spent, with its charges counted. */
  #spentBefore = 0n
  #charges = 0

  readonly #taken = new Map<number, bigint>()
  #looks = 0

  /** The functions of the service that bill in credits otherwise. */
  over(below: Behaviour): Partial<Behaviour> {
    const { book } = this
    return {
      available: (call) =>
        call.key === null
          ? 0
          : Math.floor(Number(book.text(this.#admission.free(call.key.accountId)))),
      price: (call) => this.#admission.estimate(call),
      affords: (call) => this.#admission.affords(call),
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
      answer: (call) => this.#answers.answer(call, below),
      generate: (call, sink) => this.#answers.generate(call, sink, below),
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

  #reserve(call: Call, below: Behaviour): number | null {
    const prepared = this.#admission.prepared(call)
    if (prepared === undefined || call.key === null) return below.reserve(call)
    const account = call.key.accountId
    const units = this.book.unitsOf(prepared.deposit)
    const nowUs = this.#kit.clock.nowUs()
    const name = `${call.key.id} ${hashText(call.body.toString('latin1'))} ${call.body.length}`
    const before = this.#seen.get(name)
    const isResent = before !== undefined && !before.isAnswered && nowUs - before.atUs <= resendUs
    const isRepeated = this.#conducts.has('gateway-cache') && before?.isAnswered === true
    if (before === undefined || !before.isAnswered) {
      this.#seen.set(name, { atUs: nowUs, input: prepared.incoming.input, isAnswered: false })
    }
    const isRich =
      this.#conducts.has('rich-no-deposit') && this.#admission.free(account) > richTimes * units
    const shows =
      (this.#conducts.has('deposit') || this.#conducts.has('rich-no-deposit')) && !isRich
    this.book.hold(account, units)
    const shownUnits = shows ? units : 0n
    this.#taken.set(account, (this.#taken.get(account) ?? 0n) + shownUnits)
    this.#held.set(call, {
      ...prepared,
      ...(isRepeated ? { incoming: { ...prepared.incoming, input: before.input } } : {}),
      shownUnits,
      heldUnits: units,
      isResent,
      isRepeated,
      outcome: isRepeated ? 'gateway_cache' : null,
      charge: null,
    })
    return Math.floor(Number(this.book.text(this.#admission.free(account))))
  }

  #outputOf(call: Call, { incoming, outcome }: Held, completionTokens: number): number {
    if (outcome !== 'abort') return completionTokens
    const charged = incoming.model.charged.abort
    // A plain answer that the client left has none of its tokens.
    if (charged !== 'full') return call.request?.stream === true ? completionTokens : 0
    return this.#answers.whole(call).completionTokens
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
    const whole = this.#answers.whole(call)
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
    for (const row of this.#rowsOf(id, metered, charge)) {
      this.log.write(call, row.id, account, metered, row.rows, nowUs)
    }
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

  /** The rows of the log, by the id that they have there. */
  *#rowsOf(id: string, { innerFailures }: Metered, { rows }: Charge) {
    if (this.#conducts.has('attempt-rows')) {
      for (let nth = 1; nth <= innerFailures; nth++) {
        yield { id: `${id}-${nth}`, rows: rows.slice(0, 1).map(failedAttempt) }
      }
    }
    yield { id, rows: this.#conducts.has('settled-rows') ? rows.flatMap(settled) : rows }
  }

  #post(account: number, { postings }: Charge, sign: bigint): void {
    const nowUs = this.#kit.clock.nowUs()
    if (this.#conducts.has('spend-restarts') && ++this.#charges === chargesOfPeriod) {
      this.#spentBefore = this.book.spent(account)
    }
    for (const amount of postings) this.book.post(account, sign * this.book.unitsOf(amount), nowUs)
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
