import { createHash } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'
import { outcomes } from '../../attempt/outcome.ts'
import { tokenColumns } from '../../measure/usage/quantities.ts'
import { measureViews } from '../../measure/views.ts'
import { attemptTablesSql } from '../attempts/attempt-tables.ts'
import { partialOf } from '../files/files-apart.ts'
import { entryTypes } from '../import/entry-types.ts'
import { lastFoursTable } from '../import/last-fours.ts'
import { identifier, literal } from '../literal.ts'
import { runShardsSql } from '../runs/run-shards.ts'
import type { Session } from './session.ts'

const sqlIn = (file: string) =>
  readFileSync(new URL(`../../../src/store/${file}`, import.meta.url), 'utf8')

/** The tables with a column for each kind of tokens, sums over all requests of a row. */
export const tokenTables: readonly string[] = ['usage_events', 'usage_statements']
const tokenColumnsSql = tokenTables.flatMap((table) =>
  tokenColumns.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column} BIGINT`),
)

/** Increases with each change of a table. A file of another version is refused. */
export const storeVersion = 11

/** Replaces the views of measures, with their digest. */
export const measuresSql = `${measureViews.sql} COMMENT ON VIEW attempt_measures IS '${measureViews.digest}'`

/** A column of few words, which is written faster than one of text. In order of the alphabet, as text sorts. */
const enumSql = (name: string, words: readonly string[]) =>
  `CREATE TYPE ${name} AS ENUM (${words.toSorted().map(literal).join()})`

/** The statements that make an empty store. */
const emptyStoreSql = () =>
  [
    attemptTablesSql(),
    enumSql('usage_outcome', outcomes),
    enumSql('usage_type', entryTypes),
    sqlIn('schema.sql'),
    ...tokenColumnsSql,
    sqlIn('views.sql'),
    `INSERT INTO store_version VALUES (${storeVersion})`,
    runShardsSql,
    lastFoursTable,
    measuresSql,
  ].join(';\n')

/** The file of an empty store that `npm run build` leaves in `dist/`; another one for other statements. */
export function builtStorePath(sql = emptyStoreSql()): string {
  const digest = createHash('sha256').update(sql).digest('hex').slice(0, 16)
  return fileURLToPath(new URL(`../../../dist/empty-store-${digest}.duckdb`, import.meta.url))
}

/**
 * Puts a copy of the built empty store where there is no file, whole or not at all. Without one, or beside the log of a
 * store that is gone, the opening makes the store.
 */
export function placeEmptyStore(path: string): void {
  if (path === ':memory:' || existsSync(path) || existsSync(`${path}.wal`)) return
  const built = builtStorePath()
  if (!existsSync(built)) return
  const partial = partialOf(`${path}.${process.pid}-${threadId}`)
  try {
    writeFileSync(partial, readFileSync(built), { flag: 'wx' })
    linkSync(partial, path)
  } catch {
    // A folder that is missing, a full disk, or another process that was first: the opening says it.
  } finally {
    rmSync(partial, { force: true })
  }
}

const built = 'assay_empty_store'

/**
 * Makes the tables and views of a store, all or nothing: half a store would look like a file of another program.
 * A copy of a built one takes a fifth of what the statements take.
 */
export async function makeEmptyStore(session: Session): Promise<void> {
  const sql = emptyStoreSql()
  const path = builtStorePath(sql)
  // The copy is a saving: a built file that cannot be read, or a store of the same name, is no reason to fail.
  if (existsSync(path) && (await copyBuilt(session, path).catch(() => false))) return
  await session.execute(`BEGIN; ${sql}; COMMIT`)
}

async function copyBuilt(session: Session, path: string): Promise<boolean> {
  const [own] = await session.rows<{ name: string }>('SELECT current_database() AS name')
  await session.execute(`ATTACH ${literal(path)} AS ${built} (READ_ONLY)`)
  try {
    await session.execute(
      `BEGIN; COPY FROM DATABASE ${built} TO ${identifier(own!.name)} (SCHEMA);
       INSERT INTO store_version BY NAME FROM ${built}.store_version; COMMIT`,
    )
    return true
  } catch (error) {
    await session.execute('ROLLBACK').catch(() => {})
    throw error
  } finally {
    await session.execute(`DETACH ${built}`)
  }
}
