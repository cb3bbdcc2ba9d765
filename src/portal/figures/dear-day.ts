import type { Period } from '../../measure/usage/calendar.ts'
import { weekdayOf } from '../../measure/usage/zone.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { textList } from '../../store/literal.ts'
import { dayUs } from '../../user/durations.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import { amountIn } from './cause.ts'
import { type MainCause, mainCauseOf } from './main-cause.ts'
import { within } from './rows.ts'
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
  /** What most of it came from beyond a usual day. */
  readonly cause: MainCause
}

/** What a day is beside: working days, days of the weekend, or all days if there are too few of its kind. */
export type DayKind = 'weekday' | 'weekend' | 'day'

const leastDays = 5
const leastTimes = 2
/** Another day is dear if it has so much of the excess of the dearest in its unit. */
const leastShare = 0.25
/** So many days are explained: each takes up to five queries. */
const mostDays = 3

/** A day far above a usual one, before it is explained. */
interface Candidate {
  readonly day: Day
  readonly usual: Usual
  readonly times: number
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
 * its usual is the first, by the figures that are shown.
 */
export async function dearDays(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
  page: UsageForecast | null,
): Promise<readonly DearDay[]> {
  if (period.toUs - period.fromUs > 92 * dayUs) return []
  const condition = await conditionOf(asked, query)
  const found: (readonly Candidate[])[] = []
  for (const unit of units) {
    const own = `${condition} AND ${ofUnitSql(asked, unit, units)}`
    found.push(await candidatesIn(asked, period, unit, own))
  }
  const chosen = found
    .flat()
    .sort((a, b) => b.times - a.times)
    .slice(0, mostDays)
  const dear: DearDay[] = []
  for (const own of Map.groupBy(chosen, ({ unit }) => unit).values())
    for (const each of own.toSorted((a, b) => beyondUsual(b) - beyondUsual(a)))
      dear.push(await explained(asked, period, each, page))
  return dear
}

const beyondUsual = ({ day, usual }: Candidate) => day.amount - usual.amount

async function candidatesIn(
  asked: Asked,
  period: Period,
  unit: string,
  condition: string,
): Promise<readonly Candidate[]> {
  const bars = barsAsked(period, 'day')
  const starts = bars.map(({ startUs }) => startUs)
  const rows = await readFigures<{ readonly bar: number }, never>(asked, [], {
    ...within(asked, period, condition, starts),
    bars: starts,
  })
  const days = rows
    .map((row): Day => {
      const { startUs, endUs } = bars[row.bar]!
      const text = amountIn(asked, row, unit) ?? '0'
      return { fromUs: startUs, toUs: endUs, text, amount: Number(text) }
    })
    .filter(({ amount }) => amount > 0)
    .sort((a, b) => b.amount - a.amount || b.fromUs - a.fromUs)
  const [first] = days
  if (first === undefined || days.length < leastDays) return []
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
  return days
    .map((day) => {
      const usual = groups.get(kindOf(day))!
      const most = Math.max(usual.amount, all.amount)
      return {
        ...{ day, usual, unit, condition },
        ...{ times: day.amount / most, excess: day.amount - most },
      }
    })
    .filter(({ times, excess }) => times >= leastTimes && excess >= least)
    .slice(0, mostDays)
}

/** @param days in the order of their amounts */
function usualOf(kind: DayKind, days: readonly Day[]): Usual {
  const quarter = days.length >> 2
  const middle = days.slice(quarter, days.length - quarter)
  const amount = middle.reduce((sum, day) => sum + day.amount, 0) / middle.length
  return { kind, days: middle, amount }
}

async function explained(
  asked: Asked,
  period: Period,
  candidate: Candidate,
  page: UsageForecast | null,
): Promise<DearDay> {
  const { day, usual, unit, condition } = candidate
  const { fromUs, toUs, text } = day
  return {
    ...{ fromUs, toUs, unit, amount: text, usual: usual.amount, kind: usual.kind },
    cause: await mainCauseOf(asked, {
      ...{ day: { fromUs, toUs }, usual: usual.days, unit, condition, period, page },
      excess: beyondUsual(candidate),
    }),
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
