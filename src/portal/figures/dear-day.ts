import type { Period } from '../../measure/usage/calendar.ts'
import { requestsOf } from '../../measure/usage/sums.ts'
import { weekdayOf } from '../../measure/usage/zone.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { textList } from '../../store/literal.ts'
import { dayUs } from '../../user/durations.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import type { Source } from '../source/source.ts'
import { amountIn } from './cause.ts'
import { type MainCause, mainCauseOf } from './main-cause.ts'
import { within } from './rows.ts'
import { type SingleRequest, singleRequestOf } from './single-request.ts'
import { readFigures } from './sums.ts'

/** A day far above the others. */
export interface DearDay {
  readonly fromUs: number
  readonly toUs: number
  readonly unit: string
  /** Decimal text. */
  readonly amount: string
  /** Of a usual day of its kind: the mean of the middle half of those days with use. */
  readonly usual: number
  readonly kind: DayKind
  /** Whether no day of its unit has as much. */
  readonly isDearest: boolean
  /** Whether all amounts of its unit are known. */
  readonly isKnown: boolean
  /** What most of it came from beyond a usual day. */
  readonly cause: MainCause
  /** The request that is most of it alone; null if none is, or that is not known. */
  readonly request: SingleRequest | null
}

/** The day that used most in a unit, where that is no dear day. */
export interface DearestDay
  extends Pick<DearDay, 'fromUs' | 'toUs' | 'unit' | 'amount' | 'isKnown'> {
  /** Of a usual day of its kind; null if too few days are known. */
  readonly usual: number | null
  /** Whether it is no outlier beside the others of its kind. */
  readonly isInRange: boolean
  /** Whether other days of its unit are dear. */
  readonly hasDear: boolean
}

/** The dear days, those of a unit after each other, and of each unit the day that used most if it is not among them. */
export interface DaysOfUse {
  readonly dears: readonly DearDay[]
  readonly dearest: readonly DearestDay[]
}

/** What a day is beside: working days, days of the weekend, or all days if there are too few of its kind. */
export type DayKind = 'weekday' | 'weekend' | 'day'

/** What explains a day. */
interface Known {
  readonly page: UsageForecast | null
  readonly source: Pick<Source, 'requests'>
}

const leastDays = 5
const leastTimes = 2
/** Another day is dear if it has so much of the excess of the dearest in its unit. */
const leastShare = 0.25
/** So many days are explained, or one of each unit if there are more units: each takes up to five queries. */
const mostDays = 3

/** A day far above a usual one, before it is explained. */
interface Candidate {
  readonly day: Day
  readonly usual: Usual
  readonly times: number
  readonly isDearest: boolean
  readonly isKnown: boolean
  /** What it used beyond a usual one of its kind, or of all days if that is more. */
  readonly excess: number
  readonly unit: string
  /** SQL condition of its rows. */
  readonly condition: string
}

interface Usual {
  readonly kind: DayKind
  readonly days: readonly Day[]
  readonly amount: number
}

interface Day {
  readonly fromUs: number
  readonly toUs: number
  /** Decimal text. */
  readonly text: string
  readonly amount: number
}

/**
 * The days that exceed a usual one by the most times, in any of the units: those that used at least twice as much as the days of their
 * kind and as all days, and at least a quarter of the excess of the dearest in their unit. Of a unit, the one that used most beyond
 * its usual is the first, by the figures that are shown; one of each unit is among them.
 *
 * @param units in the order of the days
 */
export async function daysOfUse(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
  known: Known,
): Promise<DaysOfUse> {
  if (period.toUs - period.fromUs > 92 * dayUs) return { dears: [], dearest: [] }
  const condition = await conditionOf(asked, query)
  const found: DaysIn[] = []
  for (const unit of units) {
    const own = `${condition} AND ${ofUnitSql(asked, unit, units)}`
    found.push(await daysIn(asked, period, unit, own))
  }
  const firsts = found.flatMap(({ candidates }) => candidates.slice(0, 1))
  const others = found.flatMap(({ candidates }) => candidates.slice(1))
  const chosen = [
    ...firsts,
    ...others.sort((a, b) => b.times - a.times).slice(0, Math.max(0, mostDays - firsts.length)),
  ]
  const dears: DearDay[] = []
  for (const unit of units)
    for (const each of chosen.filter((one) => one.unit === unit).sort(byExcess))
      dears.push(await explained(asked, { ...known, period, query }, each))
  const isSaid = ({ unit, fromUs }: DearestDay) =>
    dears.some((dear) => dear.unit === unit && dear.fromUs === fromUs)
  return {
    dears,
    dearest: found.flatMap(({ dearest }) => (dearest === null || isSaid(dearest) ? [] : dearest)),
  }
}

const beyondUsual = ({ day, usual }: Candidate) => day.amount - usual.amount
const byExcess = (a: Candidate, b: Candidate) => beyondUsual(b) - beyondUsual(a)

/** The days of a unit. */
interface DaysIn {
  /** The one with the most excess is the first. */
  readonly candidates: readonly Candidate[]
  /** Null if it is the only day, or if another used as much. */
  readonly dearest: DearestDay | null
}

async function daysIn(
  asked: Asked,
  period: Period,
  unit: string,
  condition: string,
): Promise<DaysIn> {
  const bars = barsAsked(period, 'day')
  const starts = bars.map(({ startUs }) => startUs)
  // Of the days only the amounts, for which sums are kept: with counts, eight first pages at once took 1.1 s in place of 0.7.
  const rows = await readFigures<{ readonly bar: number }, never>(asked, [], {
    ...within(asked, period, condition, starts),
    bars: starts,
  })
  const counts = await readFigures<object, (typeof countFigures)[number]>(
    asked,
    countFigures,
    within(asked, period, condition),
  )
  const isKnown = counts.every((row) => {
    const requests = requestsOf(row)
    return requests !== null && (row.costKnown ?? 0) >= requests
  })
  const days = rows
    .map((row): Day => {
      const { startUs, endUs } = bars[row.bar]!
      const text = amountIn(asked, row, unit) ?? '0'
      return { fromUs: startUs, toUs: endUs, text, amount: Number(text) }
    })
    .filter(({ amount }) => amount > 0)
    .sort((a, b) => b.amount - a.amount || b.fromUs - a.fromUs)
  const [first, second] = days
  if (first === undefined || second === undefined) return { candidates: [], dearest: null }
  const isDearest = first.amount > second.amount
  const alone = { fromUs: first.fromUs, toUs: first.toUs, unit, amount: first.text, isKnown }
  if (days.length < leastDays)
    return {
      candidates: [],
      dearest: isDearest ? { ...alone, usual: null, isInRange: false, hasDear: false } : null,
    }
  const kindOf = ({ fromUs }: Day): DayKind =>
    asked.view.weekend.includes(weekdayOf(fromUs, period.timezone)) ? 'weekend' : 'weekday'
  const all = usualOf('day', days)
  const groups = new Map(
    [...Map.groupBy(days, kindOf)].map(([kind, own]) => [
      kind,
      own.length < leastDays ? all : usualOf(kind, own),
    ]),
  )
  const least = leastShare * (first.amount - all.amount)
  const candidates = days
    .map((day) => {
      const usual = groups.get(kindOf(day))!
      const most = Math.max(usual.amount, all.amount)
      return {
        ...{ day, usual, unit, condition, isKnown, isDearest: isDearest && day === first },
        ...{ times: day.amount / most, excess: day.amount - most },
      }
    })
    .filter(({ times, excess }) => times >= leastTimes && excess >= least)
    .slice(0, mostDays)
    .sort(byExcess)
  if (!isDearest) return { candidates, dearest: null }
  const { kind, amount: usual } = groups.get(kindOf(first))!
  const others = days.filter((day) => day !== first && (kind === 'day' || kindOf(day) === kind))
  const dearest = {
    ...{ ...alone, usual, isInRange: isInRange(first, others), hasDear: candidates.length > 0 },
  }
  return { candidates, dearest }
}

/** Whether a day is no outlier of others: it is no more above their upper quartile than one and a half times the range of their quartiles (Tukey's fence). @param others in the order of their amounts */
function isInRange({ amount }: Day, others: readonly Day[]): boolean {
  const quarter = others.length >> 2
  const [high, low] = [others[quarter]!.amount, others[others.length - 1 - quarter]!.amount]
  return amount <= high + 1.5 * (high - low)
}

const countFigures = ['requests', 'requestsUnknown', 'costKnown'] as const

/** @param days in the order of their amounts */
function usualOf(kind: DayKind, days: readonly Day[]): Usual {
  const quarter = days.length >> 2
  const middle = days.slice(quarter, days.length - quarter)
  const amount = middle.reduce((sum, day) => sum + day.amount, 0) / middle.length
  return { kind, days: middle, amount }
}

async function explained(
  asked: Asked,
  { period, query, page, source }: Known & { period: Period; query: Input<'summary'> },
  candidate: Candidate,
): Promise<DearDay> {
  const { day, usual, unit, condition, isDearest, isKnown } = candidate
  const { fromUs, toUs, text } = day
  const excess = beyondUsual(candidate)
  const cause = await mainCauseOf(asked, {
    ...{ day: { fromUs, toUs }, usual: usual.days, unit, condition, period, page, excess },
  })
  return {
    ...{ fromUs, toUs, unit, amount: text, usual: usual.amount, kind: usual.kind },
    ...{ isDearest, isKnown, cause },
    request: await singleRequestOf(asked, query, source, { spans: cause.spans, unit, excess }),
  }
}

/** SQL for the rows that are not of another unit: those without an amount are of any. */
function ofUnitSql({ view }: Asked, unit: string, units: readonly string[]): string {
  const isPriced = view.moneyOf('1')?.currency === unit
  const others = units.filter((each) => each !== unit && !(each === 'credits' && isPriced))
  return others.length === 0
    ? 'true'
    : `NOT (list_contains(${textList(others)}, unit) AND credits_known > 0)`
}
