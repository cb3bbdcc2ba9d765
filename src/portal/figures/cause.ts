import type { Period } from '../../measure/usage/calendar.ts'
import { requestsOf, type Sums } from '../../measure/usage/sums.ts'
import type { UnusualHour, UsageForecast } from '../../report/usage/shape.ts'
import { textList } from '../../store/literal.ts'
import { largest } from '../../user/extremes.ts'
import { type Asked, conditionOf, type Input } from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import { within } from './rows.ts'
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
  /** Of a usual day. */
  readonly times: number
  readonly why: Why
}

/**
 * What made a day dear. A usual day is the mean of the middle half of the days with use, so requests, tokens in a request and what a
 * token cost, each beside those of a usual day, multiply to the amount beside that of a usual day.
 */
export interface Why {
  /** Null if they are not known of each of these days. */
  readonly requests: { readonly count: number; readonly usual: number } | null
  /** So many times the usual tokens in a request; null if tokens are not known. */
  readonly tokensTimes: number | null
  /** So many times the usual amount for a token; of a request if tokens are not known. */
  readonly priceTimes: number | null
  /** The model that most of another price is by, if other models were used and not other prices. */
  readonly model: string | null
  /** The hours that were busier than usual, joined where one follows another, the dearest first. */
  readonly hours: readonly While[]
}

/** Whole hours, and what they used. */
interface While {
  readonly fromUs: number
  readonly toUs: number
  /** Decimal text. */
  readonly amount: string
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
  condition = 'true',
): Promise<readonly (string | null)[]> {
  if (hoursUs.length === 0) return []
  const starts = [...new Set(hoursUs.flatMap((us) => [us, us + hourUs]))].sort((a, b) => a - b)
  const rows = await readSums<{ readonly bar: number }>(asked, {
    ...within(asked, { fromUs: starts[0]!, toUs: starts.at(-1)! }, condition, starts),
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

/** Of the unusual hours that begin in a period, those with at least a twentieth of the greatest excess among them: a customer reads no small change. */
export function listedHours(
  page: Pick<UsageForecast, 'anomalies'> | null,
  unit: string,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
): readonly number[] {
  const hours = unusualHours(page, unit).filter(({ atUs }) => atUs >= fromUs && atUs < toUs)
  const excessOf = ({ amount, usual }: UnusualHour) => amount - usual
  const least = leastShareOfExcess * largest(hours.map(excessOf), 0)
  return hours.filter((hour) => excessOf(hour) >= least).map(({ atUs }) => atUs)
}

const leastShareOfExcess = 0.05

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
  page: UsageForecast | null,
): Promise<DearDay | null> {
  let dearest: DearDay | null = null
  for (const unit of units) {
    const day = await dearestIn(asked, period, query, unit, units, page)
    if (day !== null && day.times > (dearest?.times ?? 0)) dearest = day
  }
  return dearest
}

async function dearestIn(
  asked: Asked,
  period: Period,
  query: Input<'summary'>,
  unit: string,
  units: readonly string[],
  page: UsageForecast | null,
): Promise<DearDay | null> {
  if (period.toUs - period.fromUs > 92 * 86_400e6) return null
  const bars = barsAsked(period, 'day')
  const condition = `${await conditionOf(asked, query)} AND ${ofUnitSql(asked, unit, units)}`
  const starts = bars.map(({ startUs }) => startUs)
  const rows = await readSums<{ readonly bar: number; readonly model: string | null }>(asked, {
    ...within(asked, period, condition, starts),
    bars: starts,
    by: { model: 'model' },
  })
  const days = bars
    .map((bar, at) => ({
      ...bar,
      models: rows
        .filter((row) => row.bar === at)
        .map((row): Used => ({ ...usedOf(row), amount: Number(value(asked, row, unit) ?? 0) })),
    }))
    .map((day) => ({ ...day, used: sumOf(day.models) }))
    .filter(({ used }) => used.amount > 0)
    .sort((a, b) => b.used.amount - a.used.amount || b.startUs - a.startUs)
  const [first] = days
  if (first === undefined || days.length < leastDays) return null
  const quarter = days.length >> 2
  const usual = days.slice(quarter, days.length - quarter)
  const times = (first.used.amount * usual.length) / sumOf(usual.map(({ used }) => used)).amount
  if (times < leastTimes) return null
  const day = { fromUs: first.startUs, toUs: first.endUs, timezone: period.timezone }
  const cause = await causeOf(asked, day, unit, condition)
  if (cause === null) return null
  const causes = whyOf(
    first.models,
    usual.flatMap(({ models }) => models),
    usual.length,
  )
  const why = {
    ...causes,
    model: asked.bearer.shows.has('models') ? causes.model : null,
    hours: await busyHours(asked, day, unit, condition, page),
  }
  return { ...cause, times, unit, why }
}

const value = (asked: Asked, sums: Sums, unit: string) =>
  metricOf(asked, sums, metricFor(unit), unit)

/** SQL for the rows that are not of another unit: those without an amount are of any. */
function ofUnitSql({ view }: Asked, unit: string, units: readonly string[]): string {
  const isPriced = view.moneyOf('1')?.currency === unit
  const others = units.filter((each) => each !== unit && !(each === 'credits' && isPriced))
  return others.length === 0 ? 'true' : `NOT (${isOneOfSql(others)} AND credits_known > 0)`
}

const isOneOfSql = (units: readonly string[]) => `list_contains(${textList(units)}, unit)`

/** What a model used in a while; null is unknown. */
interface Used {
  readonly model: string | null
  readonly requests: number | null
  readonly tokens: number | null
  readonly amount: number
}

function usedOf(row: Sums & { readonly model: string | null }): Omit<Used, 'amount'> {
  const { model, input, output } = row
  const requests = requestsOf(row)
  // A refund has no tokens, and none is missing.
  const none = requests === 0 ? 0 : null
  const tokens = input === null && output === null ? none : (input ?? 0) + (output ?? 0)
  return { model, requests, tokens }
}

function sumOf(all: readonly Used[]): Used {
  const sum = (of: (each: Used) => number | null) =>
    all.reduce<number | null>((so, each) => (so === null ? null : plusKnown(so, of(each))), 0)
  return {
    model: null,
    requests: sum(({ requests }) => requests),
    tokens: sum(({ tokens }) => tokens),
    amount: all.reduce((so, { amount }) => so + amount, 0),
  }
}

const plusKnown = (a: number, b: number | null) => (b === null ? null : a + b)

/** Why a day is dear, by models, beside those of usual days. */
function whyOf(
  own: readonly Used[],
  usual: readonly Used[],
  usualDays: number,
): Omit<Why, 'hours'> {
  const [day, days] = [sumOf(own), sumOf(usual)]
  if (!day.requests || !days.requests)
    return { requests: null, tokensTimes: null, priceTimes: null, model: null }
  const requests = { count: day.requests, usual: days.requests / usualDays }
  if (!day.tokens || !days.tokens) {
    const priceTimes = day.amount / day.requests / (days.amount / days.requests)
    return { requests, tokensTimes: null, priceTimes, model: null }
  }
  const priceTimes = day.amount / day.tokens / (days.amount / days.tokens)
  return {
    requests,
    tokensTimes: day.tokens / day.requests / (days.tokens / days.requests),
    priceTimes,
    model: modelOf(own, usual, priceTimes),
  }
}

/**
 * The model by which a token cost more or less than usual: if each model had cost what it usually does, the day would still have at
 * least half of the difference. A model that is not used otherwise has its own price.
 */
function modelOf(own: readonly Used[], usual: readonly Used[], times: number): string | null {
  const [day, days] = [sumOf(own), sumOf(usual)]
  const byModel = (all: readonly Used[], model: string | null) =>
    sumOf(all.filter((each) => each.model === model))
  const expected = own.reduce((sum, { model, tokens, amount }) => {
    const before = byModel(usual, model)
    return sum + (before.tokens ? (before.amount / before.tokens) * tokens! : amount)
  }, 0)
  const mix = expected / day.tokens! / (days.amount / days.tokens!)
  if (mix <= 0 || Math.log(mix) / Math.log(times) < 0.5) return null
  const more = ({ model, tokens }: Used) =>
    tokens! / day.tokens! - byModel(usual, model).tokens! / days.tokens!
  const [most] = own.toSorted((a, b) => more(b) - more(a))
  return most?.model ?? null
}

/** The hours of a day that the list of the page has, and what they used of it. */
async function busyHours(
  asked: Asked,
  { fromUs, toUs }: Period,
  unit: string,
  condition: string,
  page: UsageForecast | null,
): Promise<Why['hours']> {
  const hours = listedHours(page, unit, { fromUs, toUs }).toSorted((a, b) => a - b)
  const amounts = await usedInHours(asked, hours, unit, condition)
  const joined: While[] = []
  for (const [at, us] of hours.entries()) {
    const amount = amounts[at] ?? '0'
    const before = joined.at(-1)
    if (before?.toUs === us) {
      joined[joined.length - 1] = {
        ...before,
        toUs: us + hourUs,
        amount: plus(before.amount, amount),
      }
    } else joined.push({ fromUs: us, toUs: us + hourUs, amount })
  }
  return joined
    .filter(({ amount }) => Number(amount) > 0)
    .sort((a, b) => Number(b.amount) - Number(a.amount) || a.fromUs - b.fromUs)
}
