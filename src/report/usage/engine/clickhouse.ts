import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endSql } from '../../../measure/usage/ends.ts'
import { quantities } from '../../../measure/usage/quantities.ts'
import type { ClickHouse, Parameters } from '../../../store/clickhouse/clickhouse.ts'
import { writeLastFours } from '../../../store/clickhouse/last-fours.ts'
import { firstOpenQuarter } from '../../../store/clickhouse/tables.ts'
import { fileSql } from '../../../store/literal.ts'
import { quartersSql } from '../../../store/quarters/quarters.ts'
import {
  type AccountScope,
  accountCondition,
  allAccounts,
  isWhole,
  pollKeysSql,
} from '../../../store/session/account.ts'
import type { Session } from '../../../store/session/session.ts'
import { sessionVariable, type Variable } from '../../../store/session/variable.ts'
import { dayUs } from '../../../user/durations.ts'
import { lookup } from '../../../user/lookup.ts'
import type { Work } from '../../../user/work.ts'
import { hideTable } from '../../temp-table.ts'
import { accountOf } from '../shape.ts'
import { clickhouseRelations } from './clickhouse-relations.ts'
import type { UsageEngine } from './engine.ts'
import { type PageQuery, statementOf } from './queries.ts'
import { type RequestQuery, requestColumns, requestOrderSql, typesSql } from './request-query.ts'

/** Requests of imported logs, and polls, in ClickHouse. Results arrive as Parquet in the page's store. */
export function clickhouseEngine(clickhouse: ClickHouse): UsageEngine {
  let scope = allAccounts
  return {
    name: clickhouse.name,
    holdsRequests: true,
    async begin(session, options) {
      scope = accountOf(options)
      const { sql, variables } = asked(pollsOf(scope))
      await fetch(clickhouse, sql, await valuesOf(session, variables), (file) =>
        enterPolls(session, file),
      )
      await fetchLastFours(clickhouse, session, scope)
    },
    // Hours of keys stay in ClickHouse: their number grows with the keys.
    enterPeriod: async () => {},
    async fill(session, table, query) {
      const { sql, variables } = asked(query, relationsOf(scope))
      await fetch(clickhouse, sql, await valuesOf(session, variables), (file) =>
        session.execute(`CREATE OR REPLACE TEMP TABLE ${table} AS FROM ${file}`),
      )
      await narrow(session, table)
    },
  }
}

async function enterPolls(session: Session, file: string): Promise<void> {
  await hideTable(session, 'usage_polls')
  await session.execute(`DELETE FROM usage_polls; INSERT INTO usage_polls BY NAME FROM ${file}`)
}

function pollsOf(scope: AccountScope): PageQuery {
  const all = 'SELECT * FROM usage_polls FINAL'
  if (isWhole(scope)) return () => ({ rows: all })
  // A balance belongs to the whole account.
  if (scope.account === null || scope.keys !== null) return () => ({ rows: `${all} WHERE false` })
  const tables = ['usage_events FINAL', 'usage_buckets FINAL', 'usage_quarters FINAL']
  return (variable) => ({ rows: `${all} WHERE key_fp IN (${pollKeysSql(tables, variable)})` })
}

/** A statement, and the variables of the store that are its parameters. */
interface Asked {
  readonly sql: string
  readonly variables: readonly string[]
}

/** A query after the relations that it reads. */
function asked(query: PageQuery, relations?: ReturnType<typeof relationsOf>): Asked {
  const variables = new Set<string>()
  const variable = (name: string) => {
    variables.add(name)
    return parameter(name)
  }
  const sql = statementOf(query(variable), relations?.(variable))
  return { sql, variables: [...variables] }
}

const relationsOf = (scope: AccountScope) => (variable: Variable) =>
  clickhouseRelations(scope, variable)

/** A variable as a parameter of a query. */
const parameter: Variable = (name) => `{${name}:${typesOfVariables[name] ?? 'Int64'}}`

const typesOfVariables: Readonly<Record<string, string>> = lookup({
  usage_by: 'String',
  usage_tag: 'String',
  usage_unit: 'String',
  usage_ledger_unit: 'String',
  usage_series: 'Array(String)',
  usage_top: 'Array(String)',
  usage_lot_models: 'Array(String)',
  usage_priced: 'Array(String)',
  usage_sources: 'Array(String)',
  usage_two_logs: 'Array(String)',
  usage_account: 'String',
  usage_only_keys: 'Array(String)',
  usage_poll_unit: 'String',
  usage_poll_keys: 'Array(String)',
  usage_poll_from: 'Array(Int64)',
  usage_poll_to: 'Array(Int64)',
})

async function valuesOf(session: Session, names: readonly string[]): Promise<Parameters> {
  if (names.length === 0) return {}
  const [values] = await session.rows<Parameters>(
    `SELECT ${names.map((name) => `${sessionVariable(name)} AS ${name}`).join()}`,
  )
  // Queries before the period is known do not use it.
  return Object.fromEntries(Object.entries(values!).map(([name, value]) => [name, value ?? 0]))
}

/** Fills `usage_last_fours`. */
async function fetchLastFours(
  clickhouse: ClickHouse,
  session: Session,
  scope: AccountScope,
): Promise<void> {
  const values = await valuesOf(session, ['usage_account', 'usage_only_keys'])
  await fetched(
    (file) => writeLastFours(clickhouse, file, accountCondition(scope, parameter), values),
    (file) => session.execute(`CREATE OR REPLACE TEMP TABLE usage_last_fours AS FROM ${file}`),
  )
}

const fetch = (
  clickhouse: ClickHouse,
  sql: string,
  parameters: Parameters,
  take: (file: string) => Promise<void>,
): Promise<void> => fetched((file) => clickhouse.writeParquet(sql, parameters, file), take)

async function fetched(
  write: (file: string) => Promise<void>,
  take: (file: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-clickhouse-'))
  try {
    const file = join(folder, 'answer.parquet')
    await write(file)
    await take(fileSql('read_parquet', file))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Narrows decimals to the store's type if they fit, to get the same doubles. */
async function narrow(session: Session, table: string): Promise<void> {
  const columns = await session.rows<{ column_name: string }>(
    `FROM (DESCRIBE ${table}) WHERE column_type = 'DECIMAL(38,18)'`,
  )
  for (const { column_name: name } of columns) {
    const [row] = await session.rows<{ fits: boolean | null }>(
      `SELECT bool_and(${name}::DECIMAL(38, 6) = ${name}) AS fits FROM ${table}`,
    )
    if (row!.fits !== false) {
      await session.execute(`ALTER TABLE ${table} ALTER ${name} TYPE DECIMAL(38, 6)`)
    }
  }
}

/**
 * Stores the sums of UTC days as quarters of an hour, one day at a time. Closing a day again replaces its sums.
 *
 * @param fromUs null for the first open day
 * @returns the number of days closed
 */
export async function closeDays(
  clickhouse: ClickHouse,
  fromUs: number | null,
  toUs: number,
): Promise<number> {
  const days = await clickhouse.rows<{ day: number }>(
    `SELECT DISTINCT intDiv(quarter, 96) AS day FROM usage_events
     WHERE day < {to:Int64} AND ${fromUs === null ? `quarter >= ${firstOpenQuarter}` : 'day >= {from:Int64}'}
     ORDER BY day`,
    { to: Math.floor(toUs / dayUs), from: Math.floor((fromUs ?? 0) / dayUs) },
  )
  for (const { day } of days) {
    const some = `(SELECT * FROM requests WHERE quarter >= ${day * 96} AND quarter < ${day * 96 + 96})`
    await clickhouse.command(
      `INSERT INTO usage_quarters (${Object.keys(quantities).join()}) ${quartersOfAll(some)}`,
      ofAll,
    )
  }
  return days.length
}

/**
 * Writes the sums of all accounts with a name to a Parquet file, in the columns of the table of quarters.
 *
 * @param days UTC days of single requests; null for sums over longer intervals
 */
export async function fetchQuarters(
  clickhouse: ClickHouse,
  days: readonly number[] | null,
  file: string,
): Promise<void> {
  const which =
    days === null
      ? '(SELECT * FROM buckets WHERE account IS NOT NULL)'
      : `(SELECT * FROM open WHERE account IS NOT NULL AND intDiv(quarter, 96) IN {days:Array(Int64)}
          UNION ALL SELECT * FROM closed WHERE account IS NOT NULL AND intDiv(quarter, 96) IN {days:Array(Int64)})`
  await clickhouse.writeParquet(quartersOfAll(which), { ...ofAll, days: days ?? [] }, file)
}

/** The sums of all accounts by quarter. @param rows a subquery with the columns of quarters */
const quartersOfAll = (rows: string) =>
  asked(() => ({ rows: quartersSql(`${rows} AS cells`) }), relationsOf(allAccounts)).sql

/** The parameters of `quartersOfAll`. */
const ofAll: Parameters = { usage_sources: [], usage_unit: '', usage_from: 0, usage_to: 0 }

/** Single requests of an account; null if it has none at all. */
export async function fetchRequests<Row>(
  clickhouse: ClickHouse,
  scope: AccountScope,
  query: RequestQuery,
  work: Pick<Work, 'signal'>,
): Promise<readonly Row[] | null> {
  const { sql, parameters } = requestsOf(scope, query)
  const rows = await clickhouse.rows<Row>(sql, parameters, work)
  return rows.length > 0 || (await hasRequests(clickhouse, scope)) ? rows : null
}

/** Writes them as a Parquet file. @returns false if the account has none at all */
export async function writeRequests(
  clickhouse: ClickHouse,
  scope: AccountScope,
  query: RequestQuery,
  file: string,
  work: Pick<Work, 'signal'>,
): Promise<boolean> {
  const { sql, parameters } = requestsOf(scope, query)
  await clickhouse.writeParquet(sql, parameters, file, work)
  return hasRequests(clickhouse, scope)
}

const scopeParameters = ({ account, keys }: AccountScope): Parameters => ({
  usage_account: account ?? '',
  usage_only_keys: keys ?? [],
})

async function hasRequests(clickhouse: ClickHouse, scope: AccountScope): Promise<boolean> {
  const [some] = await clickhouse.rows<{ n: number }>(
    `SELECT count() AS n FROM (SELECT 1 FROM usage_events WHERE ${accountCondition(scope, parameter)} LIMIT 1)`,
    scopeParameters(scope),
  )
  return some!.n > 0
}

function requestsOf(scope: AccountScope, query: RequestQuery) {
  const { fromUs, toUs, models, keys, endpoints, tags, outcomes, order, priced } = query
  const parameters: Parameters = {
    ...scopeParameters(scope),
    usage_sources: [],
    orderUnit: priced.unit,
    fromUs,
    toUs,
    models,
    keys,
    endpoints,
    outcomes,
    ...Object.fromEntries(
      [...tags].flatMap(([name, values], at) => [
        [`tag${at}`, name],
        [`values${at}`, values],
      ]),
    ),
  }
  const tagged = [...tags.keys()].map(
    (_, at) =>
      `AND has({values${at}:Array(String)}, coalesce(JSONExtractString(tags, {tag${at}:String}), ''))`,
  )
  const only = (column: string, name: string) =>
    `AND (empty({${name}:Array(String)}) OR has({${name}:Array(String)}, coalesce(${column}, '')))`
  // No duration is known here.
  const sorted = order === 'duration' ? { ...query, order: 'newest' as const } : query
  const sql = `SELECT ${requestColumns}, toString(credits) AS credits, CAST(NULL AS Nullable(Int64)) AS latency_us
     FROM usage_events FINAL
     WHERE ${accountCondition(scope, parameter)} AND ${typesSql(query)} AND at_us >= {fromUs:Int64} AND at_us < {toUs:Int64}
       ${only('model', 'models')} ${only('key_fp', 'keys')} ${only('endpoint', 'endpoints')} ${only(endSql, 'outcomes')} ${tagged.join(' ')}
     ORDER BY ${requestOrderSql(sorted, '{orderUnit:String}')} LIMIT ${query.limit} OFFSET ${query.skip}`
  return { sql, parameters }
}
