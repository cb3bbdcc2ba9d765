import { sqlName } from '../../attempt/columns.ts'
import { shownTokens, tokenKinds } from '../../tokens/kinds.ts'
import { endSql } from './ends.ts'
import { knownColumn, quantities, quarterUs } from './quantities.ts'

/**
 * Every figure of usage by its name, as SQL that sums rows of quarters whose end is `ended`. Each adds up, so a sum of sums is a sum. `…Known`
 * counts the requests that report a value: the others are unknown, never 0.
 */
const figuresBy = (ended: string) =>
  ({
    requests: 'sum(requests)',
    requestsUnknown: 'sum(requests_unknown)',
    ok: `sum(requests) FILTER (WHERE ${ended} = 'ok')`,
    failed: `sum(requests) FILTER (WHERE ${ended} <> 'ok')`,
    limited: `sum(requests) FILTER (WHERE ${ended} = 'limited')`,
    ambiguous: `sum(requests) FILTER (WHERE ${ended} = 'unknown')`,
    costKnown: 'sum(credits_known)',
    // A mean is over successes.
    okTokens: `sum(both_tokens) FILTER (WHERE ${ended} = 'ok')`,
    okTokensKnown: `sum(tokens_known) FILTER (WHERE ${ended} = 'ok')`,
    ...(Object.fromEntries(
      shownTokens.flatMap((name) => [
        [name, `sum(${tokenKinds[name].column})`],
        [`${name}Known`, `sum(${knownColumn(name)})`],
      ]),
    ) as Readonly<
      Record<(typeof shownTokens)[number] | `${(typeof shownTokens)[number]}Known`, string>
    >),
  }) as const

/** The figures over rows with `outcome` and `status`. */
export const figures = figuresBy(`(${endSql})`)
/** The figures over rows with the column `ended`. */
export const figuresOfEnded = figuresBy('ended')
export type FigureName = keyof typeof figures

/** SQL over a request for the kinds of tokens. */
export const tokensSql = shownTokens
  .map((name) => `${tokenKinds[name].column} AS "${name}"`)
  .join(', ')

/** SQL over rows of `sumsOfUnitsSql` for the kinds of tokens, as files name them. */
export const fileTokensSql = shownTokens
  .map((name) => `"${name}" AS ${sqlName(name)}_tokens`)
  .join(', ')

/** An amount in one unit. Amounts in two units are never added up. */
export interface Amount {
  readonly unit: string
  /** Usage less refunds, an exact decimal. */
  readonly used: string
  /** 0 or less, and part of `used`; null without refunds. */
  readonly refunds: string | null
  /** What the requests cost, before refunds; null if only refunds have an amount. */
  readonly alone: string | null
  /** Part of `used`: what the user's prices gave, and no log; null without it. */
  readonly computed: string | null
}

/** Sums of some rows: null is "nothing reports it". */
export type Sums = Readonly<Record<FigureName, number | null>> & {
  /** One for each unit that some row has an amount in. */
  readonly amounts: readonly Amount[] | null
}

/** How many requests. Null is unknown, as of costs that a provider states alone; where nothing is, they are 0. */
export function requestsOf({
  requests,
  requestsUnknown,
  amounts,
}: Pick<Sums, 'requests' | 'requestsUnknown' | 'amounts'>): number | null {
  // A refund beside sums without a number is 0 requests of them.
  if (requestsUnknown && !requests) return null
  return requests ?? (amounts === null ? 0 : null)
}

export interface SumsQuery {
  /** Rows of quarters: a table, a view or a query in parentheses. */
  readonly from: string
  /** SQL condition. */
  readonly where?: string
  /** Names of columns, and the SQL of what they are. */
  readonly by?: Readonly<Record<string, string>>
  /** Default: those of rows with `outcome` and `status`. */
  readonly figures?: typeof figures
  /** Starts of bars, Unix microseconds: the column `bar` is the place of a row's bar. */
  readonly bars?: readonly number[]
  /** The figures that are asked for, beside the amounts; default: all. */
  readonly only?: readonly FigureName[]
}

/** Whether the rows of one query have the figures of another that asks the same. */
export function hasFigures(one: Pick<SumsQuery, 'only'>, other: Pick<SumsQuery, 'only'>): boolean {
  const has = new Set(namesOf(one))
  return namesOf(other).every((name) => has.has(name))
}

/** The figures of a query; an amount before refunds needs how many costs are known. */
const namesOf = ({ only }: Pick<SumsQuery, 'only'>): readonly FigureName[] =>
  only === undefined
    ? (Object.keys(figures) as FigureName[])
    : [...new Set([...only, 'costKnown' as const])]

/** SQL for rows with the place of their bar. Quarters find theirs once, unless a bar begins within one; then each row does. */
function inBarsSql(from: string, where: string, bars: readonly number[]): string {
  const starts = `(SELECT unnest(range(${bars.length})) AS bar, unnest([${bars.join()}]::BIGINT[]) AS start_us)`
  const rows = `(SELECT * FROM ${from} WHERE ${where})`
  return bars.every((us) => us % quarterUs === 0)
    ? `${rows} JOIN (
         SELECT quarter, bar FROM (SELECT DISTINCT quarter FROM ${from} WHERE ${where}) ASOF JOIN ${starts} ON quarter * ${quarterUs} >= start_us)
       USING (quarter)`
    : `${rows} ASOF JOIN ${starts} ON first_us >= start_us`
}

/** SQL (DuckDB) for all figures of each group and unit: `used`, `refunds` and `computed` are exact decimals of the column `unit`. */
export function sumsOfUnitsSql({
  from,
  where = 'true',
  by = {},
  bars,
  ...more
}: SumsQuery): string {
  const asked = more.figures ?? figures
  const rows = bars === undefined ? `${from} WHERE ${where}` : inBarsSql(from, where, bars)
  const groups = [
    ...(bars === undefined ? [] : ['bar']),
    ...Object.entries(by).map(([name, sql]) => `${sql} AS "${name}"`),
  ]
  const sums = namesOf(more).map((name) => `CAST(${asked[name]} AS BIGINT) AS "${name}"`)
  return `SELECT ${[...groups, 'unit', ...sums].join(', ')},
    CAST(sum(credits) AS DECIMAL(38, 18)) AS used, CAST(sum(refunds) AS DECIMAL(38, 18)) AS refunds,
    CAST(sum(computed) AS DECIMAL(38, 18)) AS computed
    FROM ${rows} GROUP BY ALL`
}

/**
 * SQL over rows of `sumsOfUnitsSql` for lines of a file: what refunds gave back is a line of its own, of the type `refund`, without requests.
 * So no line of usage has an amount that is none of its requests'. The amounts of all lines add up to what was used.
 *
 * @param groups the columns of the groups
 * @param ofRequests those of them that a refund does not have
 */
export function linesSql(
  sums: string,
  groups: readonly string[],
  ofRequests: readonly string[] = [],
): string {
  const ofBoth = groups.filter((name) => !ofRequests.includes(name))
  const others = Object.keys(figures).filter((name) => name !== 'requests')
  const list = (names: readonly string[]) => names.map((name) => `"${name}", `).join('')
  return `WITH sums AS (${sums})
    SELECT ${list(groups)} 'usage' AS type, ${list(others)} ${knownRequestsSql} AS requests, unit, ${usedAloneSql} AS amount
    FROM sums WHERE requests > 0 OR "requestsUnknown" > 0 OR used IS DISTINCT FROM refunds OR refunds IS NULL
    UNION ALL BY NAME
    SELECT ${list(ofBoth)} 'refund' AS type, 0 AS requests, unit, CAST(sum(refunds) AS DECIMAL(38, 18)) AS amount
    FROM sums WHERE refunds IS NOT NULL GROUP BY ALL`
}

/**
 * SQL for rows of quarters in which refunds are rows of their own, which have this name for what they do not name: so no request seems to
 * have a negative cost, and no key or endpoint without a name seems to be used.
 */
export function refundsApartSql(from: string, name: string): string {
  const none = Object.entries(quantities)
    .filter(
      ([column, { adds }]) =>
        adds === 'sum' && !['credits', 'refunds', 'requests'].includes(column),
    )
    .map(([column]) => `NULL AS ${column}`)
  const named = ['model', 'key_fp', 'endpoint'].map(
    (column) => `coalesce(${column}, ${name}) AS ${column}`,
  )
  return `SELECT * REPLACE (CASE WHEN refunds IS NULL THEN credits ELSE credits - refunds END AS credits, NULL::DECIMAL(38, 18) AS refunds) FROM ${from}
    WHERE refunds IS NULL OR requests > 0 OR requests_unknown > 0 OR credits <> refunds
    UNION ALL
    SELECT * REPLACE (refunds AS credits, 0 AS requests, ${[...named, ...none].join(', ')}) FROM ${from} WHERE refunds IS NOT NULL`
}

/** A refund beside sums without a number is 0 requests of them, and their number stays unknown. */
const knownRequestsSql = `CASE WHEN requests > 0 OR coalesce("requestsUnknown", 0) = 0 THEN requests END`

/** What requests cost, before refunds. */
const usedAloneSql = `CASE WHEN "costKnown" > 0 OR used IS DISTINCT FROM refunds THEN used - coalesce(refunds, 0) END`

/** SQL (DuckDB) for the `Sums` of each group. Without groups it is one row. */
export function sumsSql(query: SumsQuery): string {
  const groups = [
    ...(query.bars === undefined ? [] : ['bar']),
    ...Object.keys(query.by ?? {}).map((name) => `"${name}"`),
  ]
  const sums = namesOf(query).map((name) => `CAST(sum("${name}") AS BIGINT) AS "${name}"`)
  const amounts = `list({unit: unit, used: used::VARCHAR, refunds: refunds::VARCHAR, alone: (${usedAloneSql})::VARCHAR, computed: computed::VARCHAR} ORDER BY unit) FILTER (WHERE used IS NOT NULL) AS amounts`
  return `SELECT ${[...groups, ...sums, amounts].join(', ')} FROM (${sumsOfUnitsSql(query)})
    ${groups.length > 0 ? `GROUP BY ${groups.join(', ')}` : ''}`
}
