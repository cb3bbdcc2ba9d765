import type { PriceTerms } from '../../contract/prices.ts'
import { add, decimalText, type Rational, subtract, zero } from '../../money/rational.ts'
import type { Judged } from '../../price/judge/judge.ts'
import type { PriceJudge } from '../../price/judge/price-judge.ts'
import { grouped } from '../../user/grouped.ts'
import { isBelow } from '../evidence/prices/charged-less.ts'
import { placeVerdict } from '../evidence/prices/place-verdict.ts'
import { Stake } from '../evidence/prices/stake.ts'
import { type UnreadableCost, unlessUnreadable } from '../evidence/prices/unreadable.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../verdict.ts'
import type { LoggedRequest } from './log-lines.ts'
import { witnessOf } from './log-witness.ts'
import { type Unheld, unheldText } from './shared-ids.ts'

/** Judged rows that are kept for witnesses and explanations; all are counted. Right ones, which may contradict an explanation, are of all times. */
export const keptOfEach = 2_000
const keptOpen = 300
const keptParts = 3

interface Sums {
  readonly rows: number
  readonly wrong: number
  readonly logged: Rational
  /** Of the rows whose cost the contract gives. */
  readonly expected: Rational
  /** Rows whose cost it leaves open. */
  readonly unknown: number
}

const none: Sums = { rows: 0, wrong: 0, logged: zero, expected: zero, unknown: 0 }

const plus = (a: Sums, b: Sums): Sums => ({
  rows: a.rows + b.rows,
  wrong: a.wrong + b.wrong,
  logged: add(a.logged, b.logged),
  expected: add(a.expected, b.expected),
  unknown: a.unknown + b.unknown,
})

/** A difference is unknown as long as one cost is. */
function sumRow(name: string, of: Sums): readonly string[] {
  const expected = decimalText(of.expected)
  return [
    name,
    grouped(of.rows),
    decimalText(of.logged),
    of.unknown === of.rows
      ? 'unknown'
      : of.unknown > 0
        ? `${expected} (${grouped(of.unknown)} open)`
        : expected,
    of.unknown > 0 ? 'unknown' : decimalText(subtract(of.logged, of.expected)),
    grouped(of.wrong),
  ]
}

/** Some of a list of any length, evenly spread: when it is full, every second one is dropped, and half as many of the next are taken. */
class EvenlyKept<Row> {
  #rows: Row[] = []
  #step = 1
  #seen = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(row: Row): void {
    if (this.#seen++ % this.#step !== 0) return
    this.#rows.push(row)
    if (this.#rows.length < this.#most) return
    this.#rows = this.#rows.filter((_, at) => at % 2 === 0)
    this.#step *= 2
  }

  get all(): readonly Row[] {
    return this.#rows
  }
}

/** Right rows next to wrong ones of the same key, which say what the order of all is. */
class Neighbours {
  readonly all = new Set<Judged>()
  readonly #last = new Map<string, Judged>()

  add(judged: Judged): void {
    const { key } = judged.request
    const before = this.#last.get(key)
    this.#last.set(key, judged)
    if (before === undefined || before.is === judged.is || this.all.size >= 2 * keptOfEach) return
    for (const each of [before, judged]) if (each.is === 'right') this.all.add(each)
  }
}

/** Judged costs: all are counted, and some of each kind kept. */
export class LoggedCosts {
  readonly #prices: PriceTerms
  readonly #kept = {
    right: new EvenlyKept<Judged>(keptOfEach),
    wrong: [] as Judged[],
    open: [] as Judged[],
  }
  readonly #beside = new Neighbours()
  readonly #stake = new Stake()
  readonly #lines = new WeakMap<Judged, LoggedRequest>()
  readonly #unreadable: UnreadableCost[] = []
  readonly #parts: LoggedRequest[] = []
  #partCount = 0
  readonly #partsWhy = new Set<Unheld>()
  readonly counts = { right: 0, wrong: 0, open: 0 }
  /** Wrong ones that are not below those of the contract. */
  #above = 0
  readonly #byModel = new Map<string, Sums>()

  constructor(prices: PriceTerms) {
    this.#prices = prices
  }

  add(line: LoggedRequest, judged: Judged): void {
    this.counts[judged.is]++
    if (judged.is === 'wrong' && !isBelow(judged)) this.#above++
    this.#stake.add(judged)
    if (judged.is !== 'open') this.#beside.add(judged)
    this.#lines.set(judged, line)
    if (judged.is === 'right') this.#kept.right.add(judged)
    else {
      const kept = this.#kept[judged.is]
      if (kept.length < (judged.is === 'wrong' ? keptOfEach : keptOpen)) kept.push(judged)
    }
    const [cost] = judged.expected.costs
    const isKnown = cost !== undefined && judged.is !== 'open'
    this.#addSum(line, {
      wrong: judged.is === 'wrong' ? 1 : 0,
      logged: judged.statement.value,
      expected: !isKnown ? zero : judged.is === 'right' ? judged.nearest! : cost,
      unknown: isKnown ? 0 : 1,
    })
  }

  /** A cost that is a part of a charge whose other rows are not known. */
  addPart(line: LoggedRequest, why: Unheld): void {
    if (line.unreadable !== null) this.addUnreadable(line, line.unreadable)
    if (line.statement === null) return
    this.counts.open++
    if (this.#parts.length < keptParts) this.#parts.push(line)
    this.#partCount++
    this.#partsWhy.add(why)
    this.#addSum(line, { wrong: 0, logged: line.statement.value, expected: zero, unknown: 1 })
  }

  #addSum({ request }: LoggedRequest, sum: Omit<Sums, 'rows'>): void {
    const model = request.requestedModel
    this.#byModel.set(model, plus(this.#byModel.get(model) ?? none, { rows: 1, ...sum }))
  }

  addUnreadable({ request }: LoggedRequest, text: string): void {
    this.#unreadable.push({ request, place: 'the log', text })
  }

  get all(): number {
    return this.counts.right + this.counts.wrong + this.counts.open
  }

  verdict(judge: PriceJudge): Verdict {
    return unlessUnreadable(this.#unlessPart(this.#ofReadable(judge)), this.#unreadable, this.all)
  }

  /** Nobody knows whether parts of charges are right: no pass beside them. */
  #unlessPart(verdict: Verdict): Verdict {
    if (this.#partCount === 0 || verdict.verdict === 'fail') return verdict
    return inconclusive(
      this.all,
      `${grouped(this.#partCount)} of ${grouped(this.all)} costs are in ${unheldText(this.#partsWhy)}, which may be one charge and are not added up`,
      this.#parts.map((line) =>
        witnessOf(line, null, '', `${line.statement!.text} in one of several rows with this id`),
      ),
    )
  }

  #ofReadable(judge: PriceJudge): Verdict {
    const { right, wrong, open } = this.#kept
    const requires = 'rows with a cost of models that the contract has a price of'
    const unit = this.#prices.currency.name
    const { wrong: wrongs, open: opens } = this.counts
    const stake = this.#stake.text(unit)
    const of = { wrong: wrongs, above: this.#above, open: opens, all: this.all, stake }
    const sample = [...wrong, ...new Set([...right.all, ...this.#beside.all]), ...open]
    const { verdict } = placeVerdict(sample, this.#prices, judge, requires, of)
    const shown = (witnesses: readonly Witness[]) =>
      this.#shownBy(witnesses, sample).map((judged) =>
        witnessOf(this.#lines.get(judged)!, judged, unit),
      )
    if (verdict.verdict === 'fail') {
      const { verdict: _, observations, ...failure } = verdict
      return fail(observations, { ...failure, witnesses: shown(verdict.witnesses) })
    }
    if (verdict.verdict !== 'inconclusive') return verdict
    return {
      ...verdict,
      observations: this.all,
      ...(verdict.witnesses === undefined ? {} : { witnesses: shown(verdict.witnesses) }),
    }
  }

  /** The rows that a verdict names: wrong costs, or right ones that are all rounded up. */
  #shownBy(witnesses: readonly Witness[], sample: readonly Judged[]): readonly Judged[] {
    const byLine = new Map(sample.map((judged) => [judged.request.slot, judged]))
    return witnesses.flatMap(({ slot }) => byLine.get(slot) ?? [])
  }

  /** The sums of what is logged and what is expected, by model. */
  sums(): Verdict {
    if (this.all === 0) return notObserved('rows with a cost')
    const { name } = this.#prices.currency
    const sums = [...this.#byModel.values()]
    const rows = [...this.#byModel].map(([model, of]) => sumRow(model, of))
    const tables = [
      {
        title: `Sums in ${name}`,
        head: ['model', 'rows', 'logged', 'by the contract', 'difference', 'wrong'],
        rows: sums.length > 1 ? [...rows, sumRow('all models', sums.reduce(plus, none))] : rows,
      },
    ]
    const note = rows
      .map(
        ([model, n, logged, expected]) =>
          `${model}: ${n} rows, logged ${logged} ${name}, by the contract ${expected}${expected === 'unknown' ? '' : ` ${name}`}`,
      )
      .slice(0, 6)
      .join('; ')
    // Sums that differ pass nothing; what is wrong is told once. Nor does a sum beside nothing.
    if (this.counts.wrong === 0 && this.counts.right > 0) return pass(this.all, { note, tables })
    const why =
      this.counts.wrong > 0
        ? 'the sums differ by what PRICE-04 found'
        : 'the contract leaves the cost of every row open'
    return inconclusive(this.all, `${why}: ${note}`, undefined, { tables })
  }
}
