import { readFileSync } from 'node:fs'
import { cellsSql, shownBucketsSql } from '../../../store/quarters/quarters.ts'
import { keepRunClocks } from '../../../store/runs/run-clocks.ts'
import { accountCondition } from '../../../store/session/account.ts'
import type { Session } from '../../../store/session/session.ts'
import { relationSql } from '../../temp-table.ts'
import { accountOf, type UsageSelection } from '../shape.ts'

/**
 * Sums requests of one account, or of all, for the usage page, in a few queries with results of bounded size. Each engine reads the same queries
 * (`*.sql` and `outcomes.ts` in this folder), and defines the relations that they read:
 *
 * - `usage_cells`: sums of quarters of an hour, or the contribution of each request
 * - `usage_minutes`: requests of each key and clock minute
 * - `usage_key_hours`: the result of `key-hours.sql`
 * - `usage_import_spans`: the interval of each import, and whether it was a part of a log
 * - `usage_ledger`: signed entries that are no usage, and refunds
 * - `usage_bills`: the sources whose lines are charges of a bill
 * - `usage_shown`: single requests, if `holdsRequests`
 */
export interface UsageEngine {
  /** Its name in errors; null for the store itself. */
  readonly name: string | null
  /** False if it has only sums. */
  readonly holdsRequests: boolean
  /** Tables that say whose keys are whose, if not those of the store. */
  readonly keyTables?: readonly string[]
  /** Prepares the relations that the queries read. */
  begin(store: Session, options: UsageSelection): Promise<void>
  /** Called once the variables of the period are set. */
  enterPeriod(store: Session): Promise<void>
  /** Runs a query and stores its rows in a temporary table of the store. */
  fill(store: Session, table: string, sql: string): Promise<void>
}

/** The text of a file in this folder. A query with parts has a function in `outcomes.ts` instead. */
export function queryText(name: string): string {
  return readFileSync(
    new URL(`../../../../src/report/usage/engine/${name}.sql`, import.meta.url),
    'utf8',
  )
}

const inDuckdb = {
  enterPeriod: (store: Session) => fill(store, 'usage_key_hours', queryText('key-hours')),
  fill,
}

function fill(store: Session, table: string, sql: string): Promise<void> {
  return store.execute(`CREATE OR REPLACE TEMP TABLE ${table} AS ${sql}`)
}

/** Runs and imported logs in the store. */
export const storeEngine: UsageEngine = {
  ...inDuckdb,
  name: null,
  holdsRequests: true,
  async begin(store, options) {
    const isSmall = (await store.takeAttemptsAtHand()) && (await hasFewEvents(store))
    if (!isSmall) await keepRunClocks(store)
    await store.execute(`
      ${relationSql('usage_shown', isSmall)} SELECT * FROM usage ${whereOf(options)};
      CREATE OR REPLACE TEMP TABLE usage_shown_buckets AS ${shownBucketsSql(importsOnly(options))};
      CREATE OR REPLACE TEMP VIEW usage_bills AS SELECT source FROM usage_shown_buckets WHERE measures = 'charges';
      CREATE OR REPLACE TEMP VIEW usage_ledger AS SELECT * FROM usage_events
      WHERE type <> 'usage' ${importsOnly(options)};
      ${relationSql('usage_cells', isSmall)} ${cellsSql()};
      CREATE OR REPLACE TEMP VIEW usage_minutes AS ${queryText('minutes.duckdb')};
      CREATE OR REPLACE TEMP VIEW usage_import_spans AS
      SELECT source, imported_us, from_us, to_us, is_partial FROM usage_imports WHERE from_us IS NOT NULL;
    `)
  },
}

/** Up to this many lines of logs, a copy of the usage costs less than what it saves a page. */
const fewEvents = 10_000

async function hasFewEvents(store: Session): Promise<boolean> {
  const [counted] = await store.rows<{ n: number }>('SELECT count(*) AS n FROM usage_events')
  return counted!.n <= fewEvents
}

function whereOf({ runIds, sources }: UsageSelection): string {
  const runs = `(origin = 'run' AND list_contains(getvariable('usage_runs'), source))`
  const imports = `(origin = 'import' AND list_contains(getvariable('usage_sources'), source))`
  if (runIds.length > 0 && sources.length > 0) return `WHERE ${runs} OR ${imports}`
  if (runIds.length > 0) return `WHERE ${runs}`
  return sources.length > 0 ? `WHERE ${imports}` : ''
}

/** A condition for tables that hold only imports. */
function importsOnly({ runIds, sources }: UsageSelection): string {
  if (sources.length > 0) return `AND list_contains(getvariable('usage_sources'), source)`
  return runIds.length > 0 ? 'AND false' : ''
}

/** Cells from a DuckDB query. */
export function quartersEngine(name: string, cells: string): UsageEngine {
  return {
    ...inDuckdb,
    name,
    holdsRequests: false,
    begin: (store, options) =>
      store.execute(`
        CREATE OR REPLACE TEMP VIEW usage_cells AS SELECT * FROM (${cells})
        WHERE ${accountCondition(accountOf(options))}
        ${options.sources.length > 0 ? `AND list_contains(getvariable('usage_sources'), source)` : ''};
        CREATE OR REPLACE TEMP VIEW usage_minutes AS ${queryText('minutes.quarters')};
        CREATE OR REPLACE TEMP VIEW usage_ledger AS SELECT * FROM usage_events WHERE false;
        CREATE OR REPLACE TEMP VIEW usage_bills AS SELECT source FROM usage_statements WHERE false;
        CREATE OR REPLACE TEMP VIEW usage_import_spans AS SELECT * FROM usage_imports WHERE false;
      `),
  }
}
