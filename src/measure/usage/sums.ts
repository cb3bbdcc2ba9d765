import { sqlName } from '../../attempt/columns.ts'
import { endSql, failedSql } from './ends.ts'
import { shownTokens, tokenKinds } from './quantities.ts'

/**
 * Every figure of usage by its name, as SQL that sums rows of quarters. Each adds up, so a sum of sums is a sum. `…Known` counts the requests
 * that report a value: the others are unknown, never 0.
 */
export const figures = {
  requests: 'sum(requests)',
  requestsUnknown: 'sum(requests_unknown)',
  ok: `sum(requests) FILTER (WHERE NOT (${failedSql}))`,
  failed: `sum(requests) FILTER (WHERE ${failedSql})`,
  limited: `sum(requests) FILTER (WHERE (${endSql}) = 'limited')`,
  costKnown: 'sum(credits_known)',
  ...(Object.fromEntries(
    shownTokens.flatMap((name) => [
      [name, `sum(${tokenKinds[name].column})`],
      [`${name}Known`, `sum(${tokenKinds[name].known})`],
    ]),
  ) as Readonly<
    Record<(typeof shownTokens)[number] | `${(typeof shownTokens)[number]}Known`, string>
  >),
} as const
export type FigureName = keyof typeof figures

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
}

/** Sums of some rows: null is "nothing reports it". */
export type Sums = Readonly<Record<FigureName, number | null>> & {
  /** One for each unit that some row has an amount in. */
  readonly amounts: readonly Amount[] | null
}

export interface SumsQuery {
  /** Rows of quarters: a table, a view or a query in parentheses. */
  readonly from: string
  /** SQL condition. */
  readonly where?: string
  /** Names of columns, and the SQL of what they are. */
  readonly by?: Readonly<Record<string, string>>
  /** Starts of bars, Unix microseconds: the column `bar` is the place of a row's bar. */
  readonly bars?: readonly number[]
}

/** SQL (DuckDB) for all figures of each group and unit: `used` and `refunds` are exact decimals of the column `unit`. */
export function sumsOfUnitsSql({ from, where = 'true', by = {}, bars }: SumsQuery): string {
  const rows =
    bars === undefined
      ? `${from} WHERE ${where}`
      : `(SELECT * FROM ${from} WHERE ${where}) ASOF JOIN (
           SELECT unnest(range(${bars.length})) AS bar, unnest([${bars.join()}]::BIGINT[]) AS start_us) ON first_us >= start_us`
  const groups = [
    ...(bars === undefined ? [] : ['bar']),
    ...Object.entries(by).map(([name, sql]) => `${sql} AS "${name}"`),
  ]
  const sums = Object.entries(figures).map(([name, sql]) => `CAST(${sql} AS BIGINT) AS "${name}"`)
  return `SELECT ${[...groups, 'unit', ...sums].join(', ')},
    CAST(sum(credits) AS DECIMAL(38, 18)) AS used, CAST(sum(refunds) AS DECIMAL(38, 18)) AS refunds
    FROM ${rows} GROUP BY ALL`
}

/** SQL (DuckDB) for the `Sums` of each group. Without groups it is one row. */
export function sumsSql(query: SumsQuery): string {
  const groups = [
    ...(query.bars === undefined ? [] : ['bar']),
    ...Object.keys(query.by ?? {}).map((name) => `"${name}"`),
  ]
  const sums = Object.keys(figures).map((name) => `CAST(sum("${name}") AS BIGINT) AS "${name}"`)
  const amounts = `list({unit: unit, used: used::VARCHAR, refunds: refunds::VARCHAR} ORDER BY unit) FILTER (WHERE used IS NOT NULL) AS amounts`
  return `SELECT ${[...groups, ...sums, amounts].join(', ')} FROM (${sumsOfUnitsSql(query)})
    ${groups.length > 0 ? `GROUP BY ${groups.join(', ')}` : ''}`
}
