import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { add, decimalText, readNumber } from '../money/rational.ts'
import type { RequestQuery } from '../report/usage/engine/clickhouse.ts'
import type { AccountScope } from '../store/account.ts'
import { literal, textList } from '../store/literal.ts'
import type { Session } from '../store/session.ts'
import type { AccountView } from './account-view.ts'
import {
  autoBucket,
  type Bar,
  barsOf,
  type Period,
  periodBefore,
  periodOf,
  timeIn,
} from './period.ts'
import { Problem } from './problem.ts'
import type { Shown } from './settings.ts'
import {
  type Answers,
  type Dimension,
  type Metric,
  metrics,
  type outcomes,
  type parameters,
} from './shapes.ts'
import type { RequestRow } from './snapshot.ts'
import { outcomeSql } from './store-source.ts'
import type { Bearer } from './tokens.ts'

/** What a request may see, and of whom. */
export interface Asked {
  readonly bearer: Bearer
  readonly view: AccountView
  readonly session: Session
  readonly nowMs: number
  readonly refreshedMs: number
}

type Input<Name extends keyof typeof parameters> = z.output<(typeof parameters)[Name]>
type Filters = Pick<Input<'summary'>, 'model' | 'key' | 'endpoint' | 'outcome'>

export const scopeOf = ({ account, keys }: Bearer): AccountScope => ({ account, keys })

const exact = (decimal: string | null) =>
  decimal === null ? null : decimalText(readNumber(decimal)!)
const us = (ms: number) => Math.round(ms * 1000)

/** @throws Problem if the token does not show it */
export function needs({ bearer }: Pick<Asked, 'bearer'>, shown: Shown): void {
  if (bearer.shows.has(shown)) return
  throw new Problem(403, 'not-shown', `The token does not show ${shown}`, {
    hint: `Ask for a token whose claim shows has ${shown}.`,
  })
}

const neededBy: Readonly<Partial<Record<string, Shown>>> = {
  credits: 'credits',
  cost: 'cost',
  key: 'keys',
  model: 'models',
}

export const periodAsked = (
  { from, to, timezone }: { from: string; to: string; timezone?: string | undefined },
  view: AccountView,
) => periodOf(from, to, timezone ?? view.timezone)

/** SQL for what a dimension is called. */
const dimensionSql = (by: Dimension): string =>
  ({ model: 'model', key: 'key_fp', endpoint: 'endpoint', outcome: `(${outcomeSql})` })[by]

/**
 * The fingerprints that names of keys stand for, and the SQL condition of the filters.
 *
 * @throws Problem 404 for a model or a key that the account does not have; the same if it exists elsewhere or nowhere
 */
export async function conditionOf(asked: Asked, filters: Filters): Promise<string> {
  const { session, view } = asked
  if (filters.key.length > 0) needs(asked, 'keys')
  if (filters.model.length > 0) needs(asked, 'models')
  const keys = filters.key.map((key) => view.fingerprintOf(key))
  const known = async (column: string, values: readonly string[]) => {
    const rows = await session.rows<{ name: string }>(
      `SELECT DISTINCT ${column} AS name FROM mine WHERE list_contains(${textList(values)}, ${column})`,
    )
    return values.every((value) => rows.some(({ name }) => name === value))
  }
  if (keys.length > 0 && !(await known('key_fp', keys))) {
    throw new Problem(404, 'no-such-key', 'This account has no such key')
  }
  if (filters.model.length > 0 && !(await known('model', filters.model))) {
    throw new Problem(404, 'no-such-model', 'This account has not used such a model')
  }
  const only = (column: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`list_contains(${textList(values)}, ${column})`]
  return [
    'true',
    ...only('key_fp', keys),
    ...only('model', filters.model),
    ...only('endpoint', filters.endpoint),
    ...only(outcomeSql, filters.outcome),
  ].join(' AND ')
}

const within = ({ fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>) =>
  `first_us >= ${fromUs} AND first_us < ${toUs}`

const inCredits = `unit = 'credits'`
const requestsSql = 'coalesce(sum(requests), 0)::BIGINT'
const knownSql: Readonly<Record<Exclude<Metric, 'cost' | 'requests'>, string>> = {
  credits: 'credits_known',
  input: 'tokens_known',
  output: 'tokens_known',
  cached: 'cached_known',
  cacheWrite: 'cache_write_known',
  reasoning: 'reasoning_known',
}
const valueSql: Readonly<Record<Metric, string>> = {
  credits: `sum(credits) FILTER (WHERE ${inCredits})`,
  cost: `sum(credits) FILTER (WHERE ${inCredits})`,
  requests: 'sum(requests)',
  input: 'sum(prompt_tokens)',
  output: 'sum(completion_tokens)',
  cached: 'sum(cached_tokens)',
  cacheWrite: 'sum(cache_write_tokens)',
  reasoning: 'sum(reasoning_tokens)',
}

interface Coverage {
  readonly first: number | null
  readonly last: number | null
  readonly width: number
}

export async function coverageOf(session: Session): Promise<Coverage> {
  const [row] = await session.rows<Coverage>(
    'SELECT min(first_us) AS first, max(last_us) AS last, coalesce(max(width_us), 0)::BIGINT // 1000000 AS width FROM mine',
  )
  return row!
}

export async function readAccount(asked: Asked): Promise<Answers['account']> {
  const { view, bearer, refreshedMs, session } = asked
  const { first, last, width } = await coverageOf(session)
  const time = (at: number | null) => (at === null ? null : timeIn(at, view.timezone))
  return {
    ...{ label: view.label, currency: bearer.shows.has('cost') ? view.currency : null },
    ...{ locale: view.locale, timezone: view.timezone, shows: [...bearer.shows] },
    coverage: { first: time(first), last: time(last), widthSeconds: width, gaps: [] },
    refreshedAt: timeIn(us(refreshedMs), view.timezone),
  }
}

/** Amounts of money: those of the log by unit, and credits at the price of the settings. */
function moneyOf(asked: Asked, units: readonly { unit: string; amount: string }[]) {
  const { bearer, view } = asked
  if (!bearer.shows.has('cost')) return []
  const amounts = new Map<string, string>()
  for (const { unit, amount } of units) {
    const priced =
      unit === 'credits' ? view.moneyOf(amount) : { currency: unit, value: exact(amount)! }
    if (priced === null) continue
    const before = amounts.get(priced.currency)
    amounts.set(
      priced.currency,
      before === undefined ? priced.value : addDecimals(before, priced.value),
    )
  }
  return [...amounts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, value]) => ({ currency, value }))
}

const addDecimals = (a: string, b: string) => decimalText(add(readNumber(a)!, readNumber(b)!))

async function moneyIn(asked: Asked, where: string) {
  return asked.session.rows<{ unit: string; amount: string }>(
    `SELECT unit, sum(credits)::VARCHAR AS amount FROM mine WHERE ${where} AND credits IS NOT NULL GROUP BY unit ORDER BY unit`,
  )
}

export async function readSummary(
  asked: Asked,
  query: Input<'summary'>,
): Promise<Answers['summary']> {
  const { session, view, bearer } = asked
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const before = periodBefore(period)
  const { first } = await coverageOf(session)
  const isCovered = first !== null && first <= before.fromUs
  type Sums = Readonly<Record<string, string | null>>
  const kinds = metrics.filter((metric) => metric !== 'cost')
  const sumsOf = async (part: Period) => {
    const [row] = await session.rows<Sums>(
      `SELECT ${kinds.map((kind) => `${valueSql[kind]}::VARCHAR AS ${kind}`).join()},
         sum(requests) FILTER (WHERE outcome = 'ok')::VARCHAR AS ok, coalesce(sum(requests_unknown), 0)::VARCHAR AS hidden,
         ${Object.entries(knownSql)
           .map(([kind, column]) => `coalesce(sum(${column}), 0)::VARCHAR AS "${kind}Known"`)
           .join()}
       FROM mine WHERE ${within(part)} AND ${condition}`,
    )
    return row!
  }
  const now = await sumsOf(period)
  const then = isCovered ? await sumsOf(before) : null
  const requests = Number(now.requests ?? 0)
  const figure = (kind: (typeof kinds)[number]) => {
    const known = kind === 'requests' ? requests : Number(now[`${kind}Known`])
    const isNothing = requests === 0 && now[kind] === null && Number(now.hidden) === 0
    return {
      value: isNothing ? '0' : exact(now[kind] ?? null),
      unknownShare: requests === 0 ? 0 : Math.min(1, Math.max(0, (requests - known) / requests)),
      previous: then === null ? null : exact(then[kind] ?? null),
    }
  }
  return {
    requests: figure('requests'),
    credits: bearer.shows.has('credits') ? figure('credits') : null,
    cost: moneyOf(asked, await moneyIn(asked, `${within(period)} AND ${condition}`)),
    tokens: {
      ...{ input: figure('input'), cached: figure('cached'), cacheWrite: figure('cacheWrite') },
      ...{ output: figure('output'), reasoning: figure('reasoning') },
    },
    successShare: requests === 0 ? null : Number(now.ok ?? 0) / requests,
    refreshedAt: timeIn(us(asked.refreshedMs), view.timezone),
  }
}

const mostSeries = 10

/** Sums of each bar and name; names beyond the largest are null in `name` with `other`. */
export async function readSeries(asked: Asked, query: Input<'series'>): Promise<Answers['series']> {
  const { session, view, nowMs } = asked
  const { by, metric } = query
  for (const each of [by, metric]) if (neededBy[each] !== undefined) needs(asked, neededBy[each])
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const bucket = query.bucket === 'auto' ? autoBucket(period) : query.bucket
  const bars = barsOf(period, bucket, view.firstWeekday)
  const name = by === 'none' ? `''` : `coalesce(${dimensionSql(by)}, '')`
  const where = `${within(period)} AND ${condition}`
  const top = await session.rows<{ name: string }>(
    `SELECT ${name} AS name FROM mine WHERE ${where} GROUP BY name
     ORDER BY ${valueSql[metric]} DESC NULLS LAST, name LIMIT ${mostSeries + 1}`,
  )
  const shown = (top.length > mostSeries ? top.slice(0, mostSeries - 1) : top).map(
    (each) => each.name,
  )
  const isRest = top.length > mostSeries
  const rows = await session.rows<{
    bar: number
    name: string
    isOther: boolean
    value: string | null
    requests: number
  }>(
    `WITH bars AS (SELECT unnest(range(${bars.length})) AS bar, unnest([${bars.map((bar) => bar.startUs).join()}]::BIGINT[]) AS start_us)
     SELECT bar, CASE WHEN shown THEN name ELSE '' END AS name, NOT shown AS "isOther",
       ${valueSql[metric]}::VARCHAR AS value, ${requestsSql} AS requests
     FROM (SELECT *, ${name} AS name, list_contains(${textList(shown)}, ${name}) AS shown FROM mine WHERE ${where})
     ASOF JOIN bars ON first_us >= start_us
     GROUP BY ALL`,
  )
  const { first, last } = await coverageOf(session)
  const isMeasured = ({ startUs, endUs }: Bar) =>
    first !== null && last !== null && endUs > first && startUs <= last
  const nowUs = us(nowMs)
  const lines = [
    ...shown.map((each) => ({ name: each, other: false })),
    ...(isRest ? [{ name: '', other: true }] : []),
  ]
  const series = lines.map((line) => {
    const own = new Map(
      rows
        .filter((row) => row.isOther === line.other && row.name === line.name)
        .map((row) => [row.bar, row]),
    )
    let total: string | null = '0'
    const values = bars.map((bar, at) => {
      const found = own.get(at)
      const value =
        found === undefined
          ? isMeasured(bar)
            ? '0'
            : null
          : priced(asked, metric, exact(found.value))
      if (query.cumulative === 'false') return value
      if (!isMeasured(bar)) return null
      total = total === null || value === null ? null : addDecimals(total, value)
      return total
    })
    return {
      name: line.name === '' ? null : nameOf(asked, by, line.name),
      other: line.other,
      values,
    }
  })
  return {
    bucket,
    bars: bars.map((bar) => ({
      start: timeIn(bar.startUs, period.timezone),
      end: timeIn(bar.endUs, period.timezone),
      open: bar.endUs > nowUs,
      measured: isMeasured(bar),
    })),
    series,
  }
}

const priced = ({ view }: Asked, metric: Metric, value: string | null) =>
  metric !== 'cost' || value === null ? value : (view.moneyOf(value)?.value ?? null)

const nameOf = ({ view }: Asked, by: Dimension | 'none' | 'day', name: string) =>
  by === 'key' ? view.nameOfKey(name) : name

export async function readBreakdown(
  asked: Asked,
  query: Input<'breakdown'>,
): Promise<Answers['breakdown']> {
  const { session, view, bearer } = asked
  const { by, sort, limit } = query
  for (const each of [by, sort]) {
    if (each === 'credits' && query.sort === 'credits') continue
    if (neededBy[each] !== undefined) needs(asked, neededBy[each])
  }
  const period = periodAsked(query, view)
  const where = `${within(period)} AND ${await conditionOf(asked, query)}`
  const skip = skipOf(query.cursor)
  const days = by === 'day' ? barsOf(period, 'day') : []
  const source =
    by === 'day'
      ? `(SELECT * FROM mine WHERE ${where}) ASOF JOIN (SELECT unnest([${days.map((bar) => bar.startUs).join()}]::BIGINT[]) AS start_us) ON first_us >= start_us`
      : `mine WHERE ${where}`
  const name = by === 'day' ? 'start_us::VARCHAR' : dimensionSql(by)
  const canSort = sort === 'credits' && !bearer.shows.has('credits') ? 'requests' : sort
  const order = {
    ...{
      credits: 'credits_sum DESC NULLS LAST',
      cost: 'credits_sum DESC NULLS LAST',
      requests: 'n DESC',
    },
    ...{ tokens: '(coalesce(input, 0) + coalesce(output, 0)) DESC', name: 'name' },
  }[canSort]
  const columns = `${requestsSql} AS n, ${valueSql.credits} AS credits_sum, ${valueSql.credits}::VARCHAR AS credits,
    sum(prompt_tokens)::BIGINT AS input, sum(completion_tokens)::BIGINT AS output,
    coalesce(sum(requests) FILTER (WHERE outcome <> 'ok'), 0)::BIGINT AS failed`
  interface Sums {
    readonly name: string | null
    readonly n: number
    readonly credits: string | null
    readonly input: number | null
    readonly output: number | null
    readonly failed: number
  }
  const rows = await session.rows<Sums>(
    `SELECT ${name} AS name, ${columns} FROM ${source} GROUP BY name ORDER BY ${order}, name NULLS LAST
     LIMIT ${limit + 1} OFFSET ${skip}`,
  )
  const [all] = await session.rows<Sums>(`SELECT NULL AS name, ${columns} FROM mine WHERE ${where}`)
  const shown = bearer.shows
  const rowOf = async (sums: Sums, isTotal: boolean) => {
    const own =
      isTotal || by === 'day'
        ? where
        : `${where} AND ${dimensionSql(by)} IS NOT DISTINCT FROM ${sums.name === null ? 'NULL' : literal(sums.name)}`
    const units = shown.has('cost') && by !== 'day' ? await moneyIn(asked, own) : []
    return {
      name:
        sums.name === null
          ? null
          : by === 'day'
            ? timeIn(Number(sums.name), period.timezone).slice(0, 10)
            : nameOf(asked, by, sums.name),
      requests: sums.n,
      credits: shown.has('credits') ? exact(sums.credits) : null,
      cost: moneyOf(asked, units),
      ...{ input: sums.input, output: sums.output, failed: sums.failed },
    }
  }
  const made = []
  for (const each of rows.slice(0, limit)) made.push(await rowOf(each, false))
  return {
    rows: made,
    total: await rowOf(all!, true),
    next: rows.length > limit ? cursorAt(skip + limit) : null,
  }
}

const cursorAt = (skip: number) => Buffer.from(`after ${skip}`).toString('base64url')

/** @throws Problem for a cursor that is none of ours */
export function skipOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [, skip] = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (skip === undefined) {
    throw new Problem(400, 'bad-cursor', 'The cursor is not one of this service', {
      hint: 'Take it from next of the page before.',
    })
  }
  return Number(skip)
}

const longestUs = 31 * 86_400e6 + 3600e6

export async function readRequests(
  asked: Asked,
  query: Input<'requests'>,
  read: (scope: AccountScope, query: RequestQuery) => Promise<readonly RequestRow[] | null>,
): Promise<Answers['requests']> {
  const { bearer, view } = asked
  needs(asked, 'requests')
  const period = periodAsked(query, view)
  if (period.toUs - period.fromUs > longestUs) {
    throw new Problem(400, 'bad-period', 'A list of requests is of at most 31 days')
  }
  await conditionOf(asked, query)
  const skip = skipOf(query.cursor)
  const rows = await read(scopeOf(bearer), {
    ...{ fromUs: period.fromUs, toUs: period.toUs, limit: query.limit + 1, skip },
    ...{ models: query.model, keys: query.key.map((key) => view.fingerprintOf(key)) },
    ...{ endpoints: query.endpoint, outcomes: query.outcome },
  })
  if (rows === null) {
    throw new Problem(404, 'no-requests', 'Only sums are known, no single requests')
  }
  const shown = bearer.shows
  return {
    requests: rows.slice(0, query.limit).map((row) => ({
      at: timeIn(row.at_us, period.timezone),
      model: shown.has('models') ? row.model : null,
      key: shown.has('keys') && row.key_fp !== null ? view.nameOfKey(row.key_fp) : null,
      endpoint: row.endpoint,
      outcome: outcomeOf(row),
      ...{ input: row.input, cached: row.cached, output: row.output },
      credits: shown.has('credits') && row.unit === 'credits' ? exact(row.credits) : null,
      durationMs: row.latency_us === null ? null : row.latency_us / 1000,
    })),
    next: rows.length > query.limit ? cursorAt(skip + query.limit) : null,
  }
}

function outcomeOf({
  outcome,
  status,
}: {
  outcome: string
  status: number | null
}): (typeof outcomes)[number] {
  if (outcome === 'ok') return 'ok'
  if (status === 429) return 'limited'
  return outcome === 'http_error' ? 'failed' : 'unknown'
}

/** A short hash for logs and tags. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')
