import type { Period } from '../../measure/usage/calendar.ts'
import { compare, divide, numberOf, readNumber } from '../../money/rational.ts'
import { type Asked, conditionOf, type Input, within } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import { metricOf, readSums } from './sums.ts'

/** An amount, and the names that most of it is of. */
export interface Cause {
  readonly fromUs: number
  readonly toUs: number
  /** Decimal text. */
  readonly amount: string
  /** The model and the key that used the most of it, if the token shows them, and each used more than half. */
  readonly names: readonly NameOfCause[]
}

/** @property share of the amount, between 0.5 and 1 */
export interface NameOfCause {
  /** A key without a name of its own is called `key 3` already. */
  readonly of: 'model' | 'key' | 'unnamedKey'
  readonly name: string
  readonly share: number
}

/** A day far above the others. */
export interface DearDay extends Cause {
  readonly unit: string
  /** Of a usual day, the median of those with use. */
  readonly times: number
}

const metricFor = (unit: string) => (unit === 'credits' ? ('credits' as const) : ('cost' as const))

/** What was used in a while, and by whom. Null without an amount. */
export async function causeOf(
  asked: Asked,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
  unit: string,
  condition = 'true',
): Promise<Cause | null> {
  const { bearer, keys, view } = asked
  const { from, where } = within({ fromUs, toUs }, condition)
  const value = (sums: Parameters<typeof metricOf>[1]) =>
    metricOf(asked, sums, metricFor(unit), unit)
  const [all] = await readSums<object>(asked, { from, where })
  const amount = value(all!)
  if (amount === null || Number(amount) <= 0) return null
  const names: NameOfCause[] = []
  for (const [shown, column] of [
    ['models', 'model'],
    ['keys', 'key_fp'],
  ] as const) {
    if (!bearer.shows.has(shown)) continue
    const rows = await readSums<{ readonly name: string | null }>(asked, {
      from,
      where,
      by: { name: column },
    })
    const most = rows.find((row) => Number(value(row) ?? 0) > Number(amount) / 2)
    if (!most?.name) continue
    const share = Math.min(1, Number(value(most)) / Number(amount))
    names.push(
      column === 'model'
        ? { of: 'model', name: most.name, share }
        : {
            of: view.keyNames.has(most.name) ? 'key' : 'unnamedKey',
            name: keys.nameOf(most.name),
            share,
          },
    )
  }
  return { fromUs, toUs, amount, names }
}

const hourUs = 3600e6

/** What each of these hours used in a unit, decimal text; null without an amount. */
export async function usedInHours(
  asked: Asked,
  hoursUs: readonly number[],
  unit: string,
): Promise<readonly (string | null)[]> {
  if (hoursUs.length === 0) return []
  const starts = [...new Set(hoursUs.flatMap((us) => [us, us + hourUs]))].sort((a, b) => a - b)
  const rows = await readSums<{ readonly bar: number }>(asked, {
    ...within({ fromUs: starts[0]!, toUs: starts.at(-1)! }, 'true', starts),
    bars: starts,
  })
  const byBar = new Map(rows.map((row) => [row.bar, metricOf(asked, row, metricFor(unit), unit)]))
  return hoursUs.map((us) => byBar.get(starts.indexOf(us)) ?? null)
}

const leastDays = 5
const leastTimes = 2

/** The day that exceeds a usual one most, in any of the units, if it used at least twice as much. */
export async function dearestDay(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
): Promise<DearDay | null> {
  let dearest: DearDay | null = null
  for (const unit of units) {
    const day = await dearestIn(asked, period, query, unit)
    if (day !== null && day.times > (dearest?.times ?? 0)) dearest = day
  }
  return dearest
}

async function dearestIn(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  unit: string,
): Promise<DearDay | null> {
  if (period.toUs - period.fromUs > 92 * 86_400e6) return null
  const bars = barsAsked(period, 'day')
  const condition = await conditionOf(asked, query)
  const starts = bars.map(({ startUs }) => startUs)
  const rows = await readSums<{ readonly bar: number }>(asked, {
    ...within(period, condition, starts),
    bars: starts,
  })
  const days = rows
    .flatMap((row) => {
      const amount = readNumber(metricOf(asked, row, metricFor(unit), unit) ?? '0')!
      return numberOf(amount) > 0 ? [{ bar: bars[row.bar]!, amount }] : []
    })
    .sort((a, b) => compare(b.amount, a.amount) || b.bar.startUs - a.bar.startUs)
  const usual = days[days.length >> 1]
  if (days.length < leastDays || usual === undefined) return null
  const times = numberOf(divide(days[0]!.amount, usual.amount))
  if (times < leastTimes) return null
  const { startUs, endUs } = days[0]!.bar
  const cause = await causeOf(asked, { fromUs: startUs, toUs: endUs }, unit, condition)
  return cause === null ? null : { ...cause, times, unit }
}
