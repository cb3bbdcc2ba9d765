import type { Period } from '../../measure/usage/calendar.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { textList } from '../../store/literal.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import { amountIn } from './cause.ts'
import { type MainCause, mainCauseOf } from './main-cause.ts'
import { within } from './rows.ts'
import { readFigures } from './sums.ts'
import { sumOf, usedFigures, usedOf, type Why, whyOf } from './why.ts'

/** A day far above the others. */
export interface DearDay {
  readonly fromUs: number
  readonly toUs: number
  readonly unit: string
  /** Decimal text. */
  readonly amount: string
  /** Of a usual day. */
  readonly times: number
  /** What most of it came from beyond a usual day; null if no name and no hour has most of it. */
  readonly cause: MainCause | null
  readonly why: Why
}

const leastDays = 5
const leastTimes = 2

/** The day that exceeds a usual one most, in any of the units, if it used at least twice as much. */
export async function dearestDay(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
  page: UsageForecast | null,
): Promise<DearDay | null> {
  if (period.toUs - period.fromUs > 92 * 86_400e6) return null
  const condition = await conditionOf(asked, query)
  let dearest: DearDay | null = null
  for (const unit of units) {
    const own = `${condition} AND ${ofUnitSql(asked, unit, units)}`
    const day = await dearestIn(asked, period, unit, own, page)
    if (day !== null && day.times > (dearest?.times ?? 0)) dearest = day
  }
  return dearest
}

async function dearestIn(
  asked: Asked,
  period: Period,
  unit: string,
  condition: string,
  page: UsageForecast | null,
): Promise<DearDay | null> {
  const bars = barsAsked(period, 'day')
  const starts = bars.map(({ startUs }) => startUs)
  type Row = { readonly bar: number; readonly model: string | null }
  const rows = await readFigures<Row, (typeof usedFigures)[number]>(asked, usedFigures, {
    ...within(asked, period, condition, starts),
    bars: starts,
    by: { model: 'model' },
  })
  const days = bars
    .map(({ startUs, endUs }, at) => ({
      ...{ fromUs: startUs, toUs: endUs },
      models: rows
        .filter(({ bar }) => bar === at)
        .map((row) => usedOf(row, amountIn(asked, row, unit))),
    }))
    .map((day) => ({ ...day, used: sumOf(day.models) }))
    .filter(({ used }) => used.amount > 0)
    .sort((a, b) => b.used.amount - a.used.amount || b.fromUs - a.fromUs)
  const [first] = days
  if (first === undefined || days.length < leastDays) return null
  const quarter = days.length >> 2
  const usual = days.slice(quarter, days.length - quarter)
  const usualAmount = sumOf(usual.map(({ used }) => used)).amount / usual.length
  const times = first.used.amount / usualAmount
  if (times < leastTimes) return null
  const { fromUs, toUs, used } = first
  const own = within(asked, { fromUs, toUs }, condition)
  const [sums] = await readFigures<object, never>(asked, [], own)
  const causes = whyOf(
    first.models,
    usual.flatMap(({ models }) => models),
    usual.length,
  )
  return {
    ...{ fromUs, toUs, unit, times },
    amount: amountIn(asked, sums!, unit)!,
    cause: await mainCauseOf(asked, {
      ...{ day: { fromUs, toUs }, usual, unit, condition, period, page },
      excess: used.amount - usualAmount,
    }),
    why: { ...causes, model: asked.bearer.shows.has('models') ? causes.model : null },
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
