import { readFileSync } from 'node:fs'
import type { Store } from '../../../store/open.ts'
import { cellsSql } from '../../../store/quarters/quarters.ts'
import type { UsageOptions } from '../shape.ts'

/**
 * Where requests are summed for the usage page: a few queries of bounded answers. Their text (`*.sql`
 * of this folder) is read by each engine; what they read from is an engine's own:
 *
 * - `usage_cells`: sums of quarters of an hour, or what each request adds to them
 * - `usage_minutes`: requests of each key and clock minute
 * - `usage_key_hours`: the answer of `key-hours.sql`
 * - `usage_shown`: single requests, where `holdsRequests`
 */
export interface UsageEngine {
  /** What errors call it; null for the store itself. */
  readonly name: string | null
  /** False where it holds sums alone. */
  readonly holdsRequests: boolean
  /** Makes ready what the queries read. */
  begin(store: Store, options: UsageOptions): Promise<void>
  /** Called once the variables of the period stand. */
  enterPeriod(store: Store): Promise<void>
  /** Runs a query; its rows become a temporary table of the store. */
  fill(store: Store, table: string, sql: string): Promise<void>
}

/** The text of a file of this folder; sums that two of them ask for stand in a file of their own. */
export function queryText(name: string): string {
  const text = readFileSync(
    new URL(`../../../../src/report/usage/engine/${name}.sql`, import.meta.url),
    'utf8',
  )
  return text.replace('/* outcome-sums */', () => queryText('outcome-sums'))
}

const inDuckdb = {
  enterPeriod: (store: Store) => fill(store, 'usage_key_hours', queryText('key-hours')),
  fill,
}

function fill(store: Store, table: string, sql: string): Promise<void> {
  return store.execute(`CREATE OR REPLACE TEMP TABLE ${table} AS ${sql}`)
}

/** The store's own runs and imported logs. */
export const storeEngine: UsageEngine = {
  ...inDuckdb,
  name: null,
  holdsRequests: true,
  begin: (store, options) =>
    store.execute(`
      CREATE OR REPLACE TEMP VIEW usage_shown AS SELECT * FROM usage ${whereOf(options)};
      CREATE OR REPLACE TEMP VIEW usage_cells AS ${cellsSql()};
      CREATE OR REPLACE TEMP VIEW usage_minutes AS ${queryText('minutes.duckdb')};
    `),
}

function whereOf({ runIds, sources }: UsageOptions): string {
  const runs = `(origin = 'run' AND list_contains(getvariable('usage_runs'), source))`
  const imports = `(origin = 'import' AND list_contains(getvariable('usage_sources'), source))`
  if (runIds.length > 0 && sources.length > 0) return `WHERE ${runs} OR ${imports}`
  if (runIds.length > 0) return `WHERE ${runs}`
  return sources.length > 0 ? `WHERE ${imports}` : ''
}

/** Cells that a query of DuckDB gives. */
export function quartersEngine(name: string, cells: string): UsageEngine {
  return {
    ...inDuckdb,
    name,
    holdsRequests: false,
    begin: (store, { sources }) =>
      store.execute(`
        CREATE OR REPLACE TEMP VIEW usage_cells AS SELECT * FROM (${cells})
        ${sources.length > 0 ? `WHERE list_contains(getvariable('usage_sources'), source)` : ''};
        CREATE OR REPLACE TEMP VIEW usage_minutes AS ${queryText('minutes.quarters')};
      `),
  }
}
