import { lastFoursSql } from '../../../store/import/last-fours.ts'
import { cellsSql, shownBucketsSql } from '../../../store/quarters/quarters.ts'
import { keepRunClocks } from '../../../store/runs/run-clocks.ts'
import { accountCondition } from '../../../store/session/account.ts'
import type { Session } from '../../../store/session/session.ts'
import { sessionVariable } from '../../../store/session/variable.ts'
import { relationSql } from '../../temp-table.ts'
import { accountOf, type UsageSelection } from '../shape.ts'
import { keyHours, type PageQuery, statementOf } from './queries.ts'

/**
 * Sums requests of one account, or of all, for the usage page, in a few queries with results of bounded size. Each engine reads
 * the same queries (`queries.ts`), and defines the relations that they read:
 *
 * - `usage_cells`: sums of quarters of an hour, or the contribution of each request
 * - `usage_minutes`: requests of each key and clock minute
 * - `usage_key_hours`: the result of `keyHours`
 * - `usage_import_spans`: the interval of each import, and whether it was a part of a log
 * - `usage_ledger`: signed entries that are no usage, and refunds
 * - `usage_bills`: the sources whose lines are charges of a bill
 * - `usage_last_fours`: the last four letters of keys (`lastFoursSql`)
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
  begin(session: Session, options: UsageSelection): Promise<void>
  /** Called once the variables of the period are set. */
  enterPeriod(session: Session): Promise<void>
  /** Runs a query and stores its rows in a temporary table of the store. */
  fill(session: Session, table: string, query: PageQuery): Promise<void>
}

/** Runs a query in the store itself. */
export function fillInStore(session: Session, table: string, query: PageQuery): Promise<void> {
  const sql = statementOf(query(sessionVariable))
  return session.execute(`CREATE OR REPLACE TEMP TABLE ${table} AS ${sql}`)
}

/** A query of the store as a view. */
export function viewInStore(session: Session, view: string, query: PageQuery): Promise<void> {
  const sql = statementOf(query(sessionVariable))
  return session.execute(`CREATE OR REPLACE TEMP VIEW ${view} AS ${sql}`)
}

const lastFoursView = `CREATE OR REPLACE TEMP VIEW usage_last_fours AS ${lastFoursSql()}`

const inDuckdb = {
  enterPeriod: (session: Session) => fillInStore(session, 'usage_key_hours', keyHours),
  fill: fillInStore,
}

/** Runs and imported logs in the store. */
export const storeEngine: UsageEngine = {
  ...inDuckdb,
  name: null,
  holdsRequests: true,
  async begin(session, options) {
    const isSmall = (await session.takeAttemptsAtHand()) && (await hasFewEvents(session))
    if (!isSmall) await keepRunClocks(session)
    await session.execute(`
      ${relationSql('usage_shown', isSmall)} SELECT * FROM usage ${whereOf(options)};
      CREATE OR REPLACE TEMP TABLE usage_shown_buckets AS ${shownBucketsSql(importsOnly(options))};
      CREATE OR REPLACE TEMP VIEW usage_bills AS SELECT source FROM usage_shown_buckets WHERE measures = 'charges';
      CREATE OR REPLACE TEMP VIEW usage_ledger AS SELECT * FROM usage_events
      WHERE type <> 'usage' ${importsOnly(options)};
      ${relationSql('usage_cells', isSmall)} ${cellsSql()};
      CREATE OR REPLACE TEMP VIEW usage_minutes AS 
      SELECT key_fp, at_us // 60000000 AS minute, at_us // 3600000000 AS hour, at_us AS first_us, requests
      FROM usage_shown;
      CREATE OR REPLACE TEMP VIEW usage_import_spans AS
      SELECT source, imported_us, from_us, to_us, is_partial FROM usage_imports WHERE from_us IS NOT NULL;
      ${lastFoursView};
    `)
  },
}

/** Up to this many lines of logs, a copy of the usage costs less than what it saves a page. */
const fewEvents = 10_000

async function hasFewEvents(session: Session): Promise<boolean> {
  const [counted] = await session.rows<{ n: number }>('SELECT count(*) AS n FROM usage_events')
  return counted!.n <= fewEvents
}

function whereOf({ runIds, sources }: UsageSelection): string {
  const runs = `(origin = 'run' AND list_contains(getvariable('usage_runs'), source))`
  const imports = `(origin = 'import' AND list_contains(getvariable('usage_sources'), source))`
  const chosen = [runIds.length > 0 ? runs : [], sources.length > 0 ? imports : []].flat()
  return chosen.length > 0 ? `WHERE ${chosen.join(' OR ')}` : ''
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
    begin: (session, options) =>
      session.execute(`
        CREATE OR REPLACE TEMP VIEW usage_cells AS SELECT * FROM (${cells})
        WHERE ${accountCondition(accountOf(options))}
        ${options.sources.length > 0 ? `AND list_contains(getvariable('usage_sources'), source)` : ''};
        CREATE OR REPLACE TEMP VIEW usage_minutes AS 
        SELECT key_fp, quarter * 15 + minute AS minute, hour, first_us, minutes[minute + 1] AS requests
        FROM (SELECT *, unnest(range(15)) AS minute FROM usage_cells WHERE minutes IS NOT NULL);
        CREATE OR REPLACE TEMP VIEW usage_ledger AS SELECT * FROM usage_events WHERE false;
        CREATE OR REPLACE TEMP VIEW usage_bills AS SELECT source FROM usage_statements WHERE false;
        CREATE OR REPLACE TEMP VIEW usage_import_spans AS SELECT * FROM usage_imports WHERE false;
        ${lastFoursView};
      `),
  }
}
