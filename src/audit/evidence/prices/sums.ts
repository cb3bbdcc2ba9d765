import { add, compare, decimalText, type Rational, roundTo, zero } from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { explain } from '../../../price/judge/explain.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { isWithin } from '../../../price/judge/tolerance.ts'
import type { VerdictTable } from '../../verdict.ts'
import { lessInOrder } from './charged-less.ts'
import { settledReadings } from './held.ts'
import { type PriceJudgements, recordedCosts } from './judgements.ts'
import { readingsOf } from './readings.ts'
import { type ReadingStretch, stretchesOf } from './stretches.ts'
import { doubtOfTaken } from './taken-doubt.ts'

/** What each place says that a request cost. Null if it says nothing. */
interface Sides {
  readonly request: PricedRequest
  readonly computed: Rational | null
  readonly stated: Rational | null
  readonly logged: Rational | null
  /** The amounts of the answer and the log, as PRICE-03 and PRICE-04 judge them. */
  readonly judged: readonly Judged[]
}

/** The sums of all places beside each other, and the requests behind each difference. */
export interface Sums {
  readonly table: VerdictTable
  readonly rows: VerdictTable | null
  /** `computed 0.1 USD, stated 0.1 USD, …`. */
  readonly summary: string
  readonly differing: readonly PricedRequest[]
  /** What was taken over all readings, if no costs of the requests between them give it. */
  readonly wronglyTaken: ReadingStretch | null
  /** Why what was taken, or what a place says, may be right all the same. */
  readonly doubt: string | null
  readonly compared: number
}

/** Requests that are shown behind a difference. */
const mostRows = 50

/** Null if fewer than two places say anything, or no two of them about the same request. */
export function sumsOf(found: PriceJudgements): Sums | null {
  const sides = sidesOf(found)
  const unit = found.prices.currency.name
  const { whole, doubt } = allReadingsOf(found)
  const less = lessOf(found)
  const taken = whole?.taken ?? null
  const places = (['computed', 'stated', 'logged'] as const).filter((place) =>
    sides.some((each) => each[place] !== null),
  )
  if (places.length + (taken === null ? 0 : 1) < 2) return null
  // A sum beside one of other requests compares nothing.
  const isCompared = ({ computed, judged }: Sides) =>
    judged.length > 1 || (computed !== null && judged.length > 0)
  const compared = whole === null ? sides.filter(isCompared).length : sides.length
  if (compared === 0) return null
  const columns = [...places, ...(taken === null ? [] : ['taken'])]
  const groups = [
    ['all requests', sides],
    ...[...Map.groupBy(sides, groupOf)].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ] as const
  const table = {
    title: `Sums of each place, ${unit}`,
    head: ['requests of', 'requests', ...columns],
    rows: groups.map(([name, of], at) => [
      name,
      String(of.length),
      ...places.map((place) => sumText(of, place)),
      ...(taken === null ? [] : [at === 0 ? shown(taken) : '']),
    ]),
  }
  const differing = sides.filter((each) => differs(each, less))
  const total = groups[0][1]
  return {
    table,
    rows: rowsOf(differing, places, unit),
    summary: [
      ...places.map((place) => `${place} ${sumText(total, place)} ${unit}`),
      ...(taken === null ? [] : [`taken ${shown(taken)} ${unit}`]),
    ].join(', '),
    differing: differing.map(({ request }) => request),
    wronglyTaken: whole === null || whole.isRight ? null : whole,
    // Lower charges excuse no balance that took more than the costs.
    doubt: doubt ?? (isTooMuch(whole) ? null : less.why),
    compared,
  }
}

function sidesOf({ requests, judge, stated, logged }: PriceJudgements): readonly Sides[] {
  const ofAnswers = Map.groupBy([...stated.values()].flat(), ({ request }) => request)
  const ofLog = new Map(logged.map((each) => [each.request, each]))
  return requests.map((request) => {
    const { costs, between, open } = expectedCosts(request, judge)
    const [answers, row] = [ofAnswers.get(request) ?? [], ofLog.get(request)]
    return {
      request,
      // Of several right costs, none is the one.
      computed: costs.length === 1 && between === null && open.length === 0 ? costs[0]! : null,
      stated: answers.at(-1)?.statement.value ?? null,
      logged: row?.statement.value ?? null,
      judged: row === undefined ? answers : [...answers, row],
    }
  })
}

/** The time between the first and the last reading, if they are of one account. */
function allReadingsOf(found: PriceJudgements): {
  readonly whole: ReadingStretch | null
  readonly doubt: string | null
} {
  const terms = found.prices.evidence.balance
  if (terms === null) return { whole: null, doubt: null }
  const of = [found.requests, terms, found.judge, recordedCosts(found)] as const
  const { readings } = settledReadings(readingsOf(found, terms), ...of)
  const stretches = stretchesOf(readings, ...of)
  const [first, last] = [readings[0], readings.at(-1)]
  const whole = stretches.find((each) => each.first === first && each.last === last) ?? null
  const isWrong = whole !== null && !whole.isRight
  return { whole, doubt: isWrong ? doubtOfTaken(found, readings, terms, whole) : null }
}

const isTooMuch = (whole: ReadingStretch | null) =>
  whole !== null && !whole.isRight && whole.high !== null && compare(whole.taken, whole.high) > 0

const groupOf = ({ request }: Pick<Sides, 'request'>): string =>
  `${request.requestedModel}${request.isStream ? ', streamed' : ''}`

function sumText(sides: readonly Sides[], place: 'computed' | 'stated' | 'logged'): string {
  const known = sides.flatMap((each) => each[place] ?? [])
  if (known.length === 0) return '-'
  const sum = shown(known.reduce(add, zero))
  return known.length === sides.length ? sum : `${sum} of ${known.length}`
}

const shown = (value: Rational) => decimalText(roundTo(value, 12, 'half_even'))

/** Amounts below the contract's that may be right, and why. */
interface Less {
  readonly amounts: ReadonlySet<Judged>
  readonly why: string | null
}

function lessOf({ stated, logged, judge, prices }: PriceJudgements): Less {
  const found = [...stated.values(), logged].flatMap((place) => {
    const wrong = place.filter(({ is }) => is === 'wrong')
    const why =
      wrong.length === 0 ? null : lessInOrder(place, explain(place, judge), prices.allowance)
    return why === null ? [] : [{ wrong, why }]
  })
  return { amounts: new Set(found.flatMap(({ wrong }) => wrong)), why: found[0]?.why ?? null }
}

/** Whether two places that both know the cost of a request disagree, by more than either of them hides. */
function differs({ computed, judged }: Sides, { amounts }: Less): boolean {
  const isWrong = (each: Judged) => each.is === 'wrong' && !amounts.has(each)
  if (computed !== null && judged.some(isWrong)) return true
  const [first, ...rest] = judged
  return rest.some(({ statement, unit, expected }) => {
    const wider = compare(unit, first!.unit) > 0 ? unit : first!.unit
    const priced = expected.readings[0]?.model ?? null
    return !isWithin(statement.value, first!.statement.value, wider, priced)
  })
}

function rowsOf(
  differing: readonly Sides[],
  places: readonly ('computed' | 'stated' | 'logged')[],
  unit: string,
): VerdictTable | null {
  if (differing.length === 0) return null
  return {
    title: `Requests behind the differences, ${unit}`,
    head: ['request', 'model', 'ended', ...places],
    rows: differing
      .slice(0, mostRows)
      .map(({ request, ...of }) => [
        `${request.runId} ${request.slot}.${request.retry}`,
        groupOf({ request }),
        request.outcomes[0] ?? '',
        ...places.map((place) => (of[place] === null ? '-' : shown(of[place]))),
      ]),
  }
}
