import type { Period } from '../../measure/usage/calendar.ts'
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
  /** Of a usual day. */
  readonly usual: number
  /** What most of it came from beyond a usual day. */
  readonly cause: MainCause
}

const leastDays = 5
const leastTimes = 2
/** Another day is dear if it has so much of the excess of the dearest in its unit. */
const leastShare = 0.25
/** So many days are explained: each takes up to five queries. */
const mostDays = 3

/** A day far above a usual one, before it is explained. */
interface Candidate {
  readonly day: Day
  readonly usual: readonly Day[]
  readonly usualAmount: number
  readonly times: number
  readonly unit: string
  /** SQL condition of its rows. */
  readonly condition: string
}

interface Day {
  readonly fromUs: number
  readonly toUs: number
  /** Decimal text. */
  readonly text: string
  readonly amount: number
}

/**
 * The days that exceed a usual one most, in any of the units, the most times first: those that used at least twice as much, and at
 * least a quarter of the excess of the dearest in their unit.
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
  const dear: DearDay[] = []
  for (const each of found
    .flat()
    .sort((a, b) => b.times - a.times)
    .slice(0, mostDays))
    dear.push(await explained(asked, period, each, page))
  return dear
}

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
  const quarter = days.length >> 2
  const usual = days.slice(quarter, days.length - quarter)
  const usualAmount = usual.reduce((sum, { amount }) => sum + amount, 0) / usual.length
  const least = leastShare * (first.amount - usualAmount)
  return days
    .map((day) => ({
      ...{ day, usual, usualAmount, unit, condition },
      times: day.amount / usualAmount,
    }))
    .filter(({ day, times }) => times >= leastTimes && day.amount - usualAmount >= least)
    .slice(0, mostDays)
}

async function explained(
  asked: Asked,
  period: Period,
  { day, usual, usualAmount, unit, condition }: Candidate,
  page: UsageForecast | null,
): Promise<DearDay> {
  const { fromUs, toUs, text, amount } = day
  return {
    ...{ fromUs, toUs, unit, amount: text, usual: usualAmount },
    cause: await mainCauseOf(asked, {
      ...{ day: { fromUs, toUs }, usual, unit, condition, period, page },
      excess: amount - usualAmount,
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
