import { barsOf, type Period } from '../../measure/usage/calendar.ts'
import { requestsOf, type Sums } from '../../measure/usage/sums.ts'
import { compare, divide, numberOf, readNumber } from '../../money/rational.ts'
import type { UnusualHour, UsageForecast } from '../../report/usage/shape.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import { coverageOf, within } from './rows.ts'
import { metricOf, plus, readSums } from './sums.ts'

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
  readonly why: Why
}

/** What made a day dear, beside a usual day: medians of the days with use. */
export interface Why {
  /** Null if they are not known. */
  readonly requests: { readonly count: number; readonly usual: number } | null
  /** So many times the usual tokens in a request; null if tokens are not known. */
  readonly tokensTimes: number | null
  /** So many times the usual amount for a token. */
  readonly priceTimes: number | null
  /** The shortest while that has half of the amount, in whole hours; null if it is most of the day, or if hours are not known. */
  readonly hours: { readonly fromUs: number; readonly toUs: number; readonly amount: string } | null
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
  const { from, where } = within(asked, { fromUs, toUs }, condition)
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
    ...within(asked, { fromUs: starts[0]!, toUs: starts.at(-1)! }, 'true', starts),
    bars: starts,
  })
  const byBar = new Map(rows.map((row) => [row.bar, metricOf(asked, row, metricFor(unit), unit)]))
  return hoursUs.map((us) => byBar.get(starts.indexOf(us)) ?? null)
}

/** Hours far above the usual of their time of day in a unit, the greatest excess first; default: in any. */
export const unusualHours = (
  page: Pick<UsageForecast, 'anomalies'> | null,
  unit?: string,
): readonly (UnusualHour & { readonly atUs: number })[] =>
  (page?.anomalies.find(({ kind }) => kind === 'unusual-hour')?.rows ?? []).flatMap(
    ({ atUs, hour }) =>
      hour === undefined || (unit !== undefined && hour.unit !== unit) ? [] : [{ ...hour, atUs }],
  )

/** A ratio as it is said: with one digit below 10. */
export const roundTimes = (times: number) =>
  times < 10 ? Number(times.toFixed(1)) : Math.round(times)

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
    ...within(asked, period, condition, starts),
    bars: starts,
  })
  const days = rows
    .flatMap((row) => {
      const amount = readNumber(metricOf(asked, row, metricFor(unit), unit) ?? '0')!
      return numberOf(amount) > 0 ? [{ bar: bars[row.bar]!, amount, sums: row }] : []
    })
    .sort((a, b) => compare(b.amount, a.amount) || b.bar.startUs - a.bar.startUs)
  const usual = days[days.length >> 1]
  if (days.length < leastDays || usual === undefined) return null
  const times = numberOf(divide(days[0]!.amount, usual.amount))
  if (times < leastTimes) return null
  const { startUs, endUs } = days[0]!.bar
  const day = { fromUs: startUs, toUs: endUs, timezone: period.timezone }
  const cause = await causeOf(asked, day, unit, condition)
  if (cause === null) return null
  const hours = await hoursOfHalf(asked, day, unit, condition)
  const why = {
    ...whyOf(days.map(({ sums, amount }) => ({ sums, amount: numberOf(amount) }))),
    hours,
  }
  return { ...cause, times, unit, why }
}

/** Why the first of these days is dear. */
function whyOf(
  days: readonly { readonly sums: Sums; readonly amount: number }[],
): Omit<Why, 'hours'> {
  const figures = days.map(({ sums, amount }) => {
    const requests = requestsOf(sums)
    const { input, output } = sums
    const tokens = input === null && output === null ? null : (input ?? 0) + (output ?? 0)
    return {
      requests,
      perRequest: tokens === null || !requests ? null : tokens / requests,
      perToken: tokens ? amount / tokens : null,
    }
  })
  const usual = (name: 'requests' | 'perRequest' | 'perToken') => {
    const known = figures.flatMap((each) => each[name] ?? []).sort((a, b) => a - b)
    return known[known.length >> 1] ?? null
  }
  const times = (name: 'perRequest' | 'perToken') => {
    const [own, of] = [figures[0]![name], usual(name)]
    return own === null || !of ? null : own / of
  }
  const { requests } = figures[0]!
  return {
    requests: requests === null ? null : { count: requests, usual: usual('requests') ?? requests },
    tokensTimes: times('perRequest'),
    priceTimes: times('perToken'),
  }
}

/** A while that is longer says nothing of a day. */
const mostHours = 6

async function hoursOfHalf(
  asked: Asked,
  day: Period,
  unit: string,
  condition: string,
): Promise<Why['hours']> {
  const { width } = await coverageOf(asked.session)
  if (width > 3600) return null
  const hours = barsOf(day, 'hour')
  const starts = hours.map(({ startUs }) => startUs)
  const rows = await readSums<{ readonly bar: number }>(asked, {
    ...within(asked, day, condition, starts),
    bars: starts,
  })
  const amounts = hours.map(() => '0')
  for (const row of rows) amounts[row.bar] = metricOf(asked, row, metricFor(unit), unit) ?? '0'
  const half = amounts.reduce((sum, each) => sum + Number(each), 0) / 2
  for (let length = 1; length <= mostHours; length++) {
    const sums = hours.slice(length - 1).map((_, at) => amounts.slice(at, at + length).reduce(plus))
    const at = sums.reduce((best, sum, each) => (Number(sum) > Number(sums[best]) ? each : best), 0)
    if (sums.length > 0 && Number(sums[at]) >= half)
      return { fromUs: starts[at]!, toUs: hours[at + length - 1]!.endUs, amount: sums[at]! }
  }
  return null
}
