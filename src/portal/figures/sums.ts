import type { Period } from '../../measure/usage/calendar.ts'
import {
  type Amount,
  type FigureName,
  hasFigures,
  requestsOf,
  type Sums,
  type SumsQuery,
  sumsSql,
} from '../../measure/usage/sums.ts'
import { add, decimalText, readNumber } from '../../money/rational.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import { largest } from '../../user/extremes.ts'
import { type Asked, exact, shownFor } from '../api/asked.ts'
import { Problem } from '../api/problem.ts'
import type { Answers, Metric } from '../api/shapes.ts'
import { allDays, type Rows, rowsCutAt, rowsOnce, within } from './rows.ts'

/** The unit of prepaid credits. */
const creditsUnit = 'credits'

/** The queries of a session that differ in their figures alone, under all else of them. */
const asked = new WeakMap<object, Map<string, SumsQuery[]>>()

/** @property from default: of all its time */
type Query = Omit<SumsQuery, 'from'> & { readonly from?: Rows | string }

/** The query over rows that have the names which it reads. */
export function wholeQuery({ from = allDays, ...query }: Query): SumsQuery {
  const reads = [query.where, ...Object.values(query.by ?? {})].join(' ')
  return { ...query, from: typeof from === 'string' ? from : from(reads) }
}

/** The sums of the account, one row for each group. A question is answered by one before that has its figures. */
export function readSums<Groups>(
  { session }: Pick<Asked, 'session'>,
  query: Query,
  order = '',
): Promise<readonly (Sums & Groups)[]> {
  const whole = wholeQuery(query)
  const { only: _, ...rest } = whole
  const ofSession = asked.get(session) ?? new Map<string, SumsQuery[]>()
  asked.set(session, ofSession)
  const key = JSON.stringify([rest, order])
  const before = ofSession.get(key) ?? []
  ofSession.set(key, before)
  const found = before.find((each) => hasFigures(each, whole))
  if (found === undefined) before.push(whole)
  return rowsOnce(session, `FROM (${sumsSql(found ?? whole)}) ${order}`)
}

/** The same with the amounts and these figures at least, which is faster. */
export function readFigures<Groups, Name extends FigureName>(
  of: Pick<Asked, 'session'>,
  only: readonly Name[],
  query: Omit<Query, 'only'>,
  order = '',
): Promise<readonly (Pick<Sums, Name | 'amounts'> & Groups)[]> {
  return readSums<Groups>(of, { ...query, only }, order)
}

/** An amount of a unit as the log has it, an exact decimal; null without one. */
export const loggedIn = (
  amounts: readonly Amount[] | null,
  unit: string,
  part: 'used' | 'refunds',
) => exact(amounts?.find((each) => each.unit === unit)?.[part] ?? null)

export const creditsOf = (
  { amounts }: Pick<Sums, 'amounts'>,
  part: 'used' | 'refunds' = 'used',
): string | null => loggedIn(amounts, creditsUnit, part)

/** Amounts of money by currency: those of the log, and credits at the price of the settings. None if the token shows no costs. */
export function moneyOf(
  { bearer, view }: Asked,
  { amounts }: Pick<Sums, 'amounts'>,
  part: 'used' | 'refunds' = 'used',
): Answers['breakdown']['total']['cost'] {
  if (!bearer.shows.has('cost')) return []
  const sums = new Map<string, string>()
  for (const each of amounts ?? []) {
    const value = exact(each[part])
    if (value === null) continue
    const priced = each.unit === creditsUnit ? view.moneyOf(value) : { currency: each.unit, value }
    if (priced === null) continue
    const before = sums.get(priced.currency)
    sums.set(priced.currency, before === undefined ? priced.value : plus(before, priced.value))
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, value]) => ({ currency, value }))
}

export const plus = (a: string, b: string) => decimalText(add(readNumber(a)!, readNumber(b)!))

/** A unit that the account has amounts in. */
export interface UsedUnit {
  readonly unit: string
  /** When it was last used in the period, Unix microseconds; null if it was not. */
  readonly lastUs: number | null
  /** When it was first used in all time; null if it never was. */
  readonly firstUs: number | null
}

/**
 * The units of the account, those of the last day with use in the period first: credits before the unit of more requests. The
 * others follow as they ended, the latest first. A refund in a unit is no use of it.
 */
export async function unitsUsed(
  of: Pick<Asked, 'session' | 'view'>,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
): Promise<readonly UsedUnit[]> {
  const { session } = of
  const { from, where } = within(of, { fromUs, toUs }, 'credits_known > 0')
  interface Row extends UsedUnit {
    readonly requests: number | null
  }
  const rows = await rowsOnce<Row>(
    session,
    `SELECT unit, max(last_us) FILTER (WHERE ${where}) AS "lastUs", min(first_us) FILTER (WHERE credits_known > 0) AS "firstUs", sum(credits_known)::BIGINT AS requests
     FROM ${from(where)} WHERE credits IS NOT NULL GROUP BY unit`,
  )
  const endUs = largest(rows.map(({ lastUs }) => lastUs ?? 0))
  // One unit is the first of all.
  const latest = rows.length < 2 ? [] : await usedSince(of, { fromUs, toUs }, endUs - dayUs)
  const latestIn = (unit: string) => latest.find((each) => each.unit === unit)?.requests ?? null
  const isLatestCredits = ({ unit }: Row) => unit === creditsUnit && latestIn(unit) !== null
  return rows
    .toSorted(
      (a, b) =>
        Number(latestIn(a.unit) === null) - Number(latestIn(b.unit) === null) ||
        Number(isLatestCredits(b)) - Number(isLatestCredits(a)) ||
        (latestIn(b.unit) ?? 0) - (latestIn(a.unit) ?? 0) ||
        (b.lastUs ?? 0) - (a.lastUs ?? 0) ||
        (b.requests ?? -1) - (a.requests ?? -1) ||
        (a.unit < b.unit ? -1 : 1),
    )
    .map(({ unit, lastUs, firstUs }) => ({ unit, lastUs, firstUs }))
}

/** Those that a token shows amounts in: who may see costs and no credits sees the price of these alone. */
export async function unitsShown(
  { bearer, ...of }: Pick<Asked, 'session' | 'view' | 'bearer'>,
  period: Pick<Period, 'fromUs' | 'toUs'>,
): Promise<readonly UsedUnit[]> {
  const { shows } = bearer
  const found = await unitsUsed(of, period)
  const priced = shows.has('cost') ? (of.view.moneyOf('0')?.currency ?? null) : null
  const shown = found.flatMap((used) => {
    const unit = used.unit === creditsUnit && !shows.has('credits') ? priced : used.unit
    return unit === null || !shows.has(shownFor(unit)) ? [] : [{ ...used, unit }]
  })
  return shown.filter(({ unit }, at) => shown.findIndex((each) => each.unit === unit) === at)
}

/** The units of the use of a period, if there are several: a file has them all. */
export async function unitsOfFile(
  asked: Pick<Asked, 'session' | 'view' | 'bearer'>,
  period: Pick<Period, 'fromUs' | 'toUs'>,
): Promise<readonly string[]> {
  const used = (await unitsShown(asked, period)).filter(({ lastUs }) => lastUs !== null)
  return used.length < 2 ? [] : used.map(({ unit }) => unit).sort()
}

/** Requests with a known cost of each unit that was used in a period after a moment. */
function usedSince(
  of: Pick<Asked, 'session' | 'view'>,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
  sinceUs: number,
): Promise<readonly { readonly unit: string; readonly requests: number }[]> {
  const from = rowsCutAt(of, [fromUs, toUs, Math.floor(sinceUs / hourUs) * hourUs])
  return rowsOnce(
    of.session,
    `SELECT unit, sum(credits_known)::BIGINT AS requests FROM ${from('')}
     WHERE credits IS NOT NULL AND credits_known > 0 AND first_us >= ${fromUs} AND first_us < ${toUs} AND last_us > ${sinceUs}
     GROUP BY unit`,
  )
}

/**
 * The unit of the amounts of a metric, and all that the account has: figures of two are never one bar or one sum.
 *
 * @param wanted default: the first of `unitsUsed`
 * @throws Problem 404 for a unit without an amount
 */
export async function unitOf(
  asked: Asked,
  metric: Metric | 'tokens' | 'name',
  period: Period,
  wanted?: string,
): Promise<{ readonly unit: string | null; readonly units: readonly string[] }> {
  const { view } = asked
  if (metric !== 'cost' && metric !== 'credits') return { unit: null, units: [] }
  const rows = await unitsUsed(asked, period)
  const priced = view.moneyOf('0')?.currency
  const units =
    metric === 'credits'
      ? [creditsUnit]
      : [...new Set(rows.flatMap(({ unit }) => (unit === creditsUnit ? (priced ?? []) : [unit])))]
  if (wanted !== undefined && !units.includes(wanted)) {
    throw new Problem(404, 'no-such-unit', 'This account has no amounts in such a unit', {
      gone: [wanted],
      hint: units.length === 0 ? 'It has none at all.' : `It has ${units.join(', ')}.`,
    })
  }
  return { unit: wanted ?? units[0] ?? null, units }
}

/** The sums before refunds: what the requests alone cost. */
export const withoutRefunds = <Row extends Pick<Sums, 'amounts'>>(sums: Row): Row => ({
  ...sums,
  amounts: (sums.amounts ?? []).flatMap((each) =>
    each.alone === null ? [] : [{ ...each, used: each.alone, refunds: null }],
  ),
})

/** How many of them failed; null is unknown. */
export const failedOf = (
  sums: Pick<Sums, 'requests' | 'requestsUnknown' | 'amounts' | 'failed'>,
): number | null => (requestsOf(sums) === null ? null : (sums.failed ?? 0))

/** The value of a metric; an amount in this unit. Null is unknown. */
export function metricOf(asked: Asked, sums: Sums, metric: Metric, unit: string | null) {
  if (metric === 'credits') return creditsOf(sums)
  if (metric === 'cost') {
    return moneyOf(asked, sums).find(({ currency }) => currency === unit)?.value ?? null
  }
  const value = sums[metric]
  return value === null ? null : String(value)
}

/** SQL over rows of `sumsSql` for what a metric is ordered by. */
export function orderSql({ view }: Asked, metric: Metric | 'tokens', unit: string | null): string {
  const amount = (of: string) =>
    `list_sum([each.used::DOUBLE FOR each IN amounts IF each.unit = '${of.replaceAll("'", "''")}'])`
  switch (metric) {
    case 'tokens':
      return 'coalesce("input", 0) + coalesce("output", 0)'
    case 'credits':
      return amount(creditsUnit)
    case 'cost': {
      // Nothing has a cost, so names stand as their requests do.
      if (unit === null) return '"requests"'
      const price = view.moneyOf('1')
      if (price?.currency !== unit) return amount(unit)
      return `coalesce(${amount(unit)} + ${price.value} * ${amount(creditsUnit)}, ${amount(unit)}, ${price.value} * ${amount(creditsUnit)})`
    }
    default:
      return `"${metric}"`
  }
}
