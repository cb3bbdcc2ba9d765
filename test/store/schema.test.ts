import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { attemptColumns, columnNames, sqlName, sqlTypes } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { rowColumns, shared } from '../../src/store/layout.ts'
import { openExistingStore, openStore, type Store } from '../../src/store/open.ts'
import { appendAttempts } from '../../src/store/recorder.ts'
import { plainRow } from './plain-row.ts'

const columnsOf = (store: Store, table: string) =>
  store.rows<{ name: string; type: string; nullable: boolean }>(
    `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`,
    [table],
  )

/** Past the store, as another program would. */
async function askTheirs(path: string, sql: string) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(sql)
  connection.closeSync()
  instance.closeSync()
  return reader.getRows()
}

test('the view of attempts has the columns of the row type, in order', async () => {
  const store = await openStore(':memory:')
  const found = await columnsOf(store, 'attempts')
  store.close()
  expect(found.map(({ name, type }) => ({ name, type }))).toEqual(
    columnNames.map((name) => ({
      name: sqlName(name),
      type: sqlTypes[attemptColumns[name].kind],
    })),
  )
})

test('the tables of attempts hold the columns of the layout, and nulls where the row type has them', async () => {
  const store = await openStore(':memory:')
  for (const [table, names] of Object.entries({ ...shared, attempt_rows: rowColumns })) {
    const found = await columnsOf(store, table)
    const own = found.filter(({ name }) => name !== 'asking' && name !== 'ending')
    expect(own).toEqual(
      names.map((name) => ({
        name: sqlName(name),
        type: sqlTypes[attemptColumns[name].kind],
        nullable: attemptColumns[name].nullable,
      })),
    )
  }
  store.close()
})

test('the view of flags spells out every bit under its own name', async () => {
  const store = await openStore(':memory:')
  const view = await store.rows<{ sql: string }>(
    `SELECT sql FROM duckdb_views() WHERE view_name = 'attempt_flags'`,
  )
  store.close()
  const spelled = [...view[0]!.sql.matchAll(/& (\d+)\) (?:!=|<>) 0\) AS (\w+)/g)].map((match) => [
    match[2],
    Number(match[1]),
  ])
  expect(spelled).toEqual(
    Object.entries(flags).map(([name, bit]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      bit,
    ]),
  )
})

test('a store of another version is refused with both versions named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'old.duckdb')
    const store = await openStore(path)
    await store.execute('UPDATE store_version SET version = 0')
    store.close()
    await expect(openStore(path)).rejects.toThrow(/store of version 0; this Assay reads version 3/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a DuckDB file of another program is refused by its tables, and gets none of ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'theirs.duckdb')
    await askTheirs(path, 'CREATE TABLE orders (n INTEGER)')
    await expect(openStore(path)).rejects.toThrow(
      `${path} is no store of Assay: it has tables of another program (orders). Use another --db.`,
    )
    expect(await askTheirs(path, 'SELECT table_name FROM duckdb_tables()')).toEqual([['orders']])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a store of version 1, where attempts were one table, is taken over row by row', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'old.duckdb')
    const rows = Array.from({ length: 500 }, (_, slot) =>
      plainRow(slot, {
        runId: `run ${slot % 2}`,
        status: slot % 5 === 0 ? null : 200 + (slot % 3),
        errorCode: slot % 7 === 0 ? 'rate_limit_exceeded' : null,
        flags: slot % 11,
      }),
    )
    const old = await openStore(path)
    await appendAttempts(old, rows)
    const before = await old.rows('FROM attempts ORDER BY slot')
    await old.execute(`
      CREATE TABLE was AS FROM attempts;
      DROP VIEW attempts; DROP VIEW all_rows;
      DROP TABLE plain_rows; DROP TABLE narrow_rows; DROP TABLE attempt_rows; DROP TABLE askings; DROP TABLE endings;
      ALTER TABLE was RENAME TO attempts;
      UPDATE store_version SET version = 1`)
    old.close()
    for (const _ of ['taken over', 'as it is']) {
      const store = await openStore(path)
      expect(await store.rows('FROM attempts ORDER BY slot')).toEqual(before)
      const [shared] = await store.rows(`
        SELECT (SELECT count(*) FROM askings)::INTEGER AS askings, version
        FROM store_version`)
      expect(shared).toEqual({ askings: 2, version: 3 })
      store.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a store of version 2, where one table took all rows, keeps them and gets the smaller tables', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'old.duckdb')
    const old = await openStore(path)
    // A fraction of a credit lies in the table that takes any row.
    await appendAttempts(
      old,
      Array.from({ length: 20 }, (_, slot) => plainRow(slot, { creditsRemaining: 99.5 - slot })),
    )
    const before = await old.rows('FROM attempts ORDER BY slot')
    await old.execute(`
      DROP VIEW attempts; DROP VIEW all_rows; DROP TABLE plain_rows; DROP TABLE narrow_rows;
      CREATE VIEW attempts AS FROM attempt_rows;
      UPDATE store_version SET version = 2`)
    old.close()
    const store = await openStore(path)
    expect(await store.rows('FROM attempts ORDER BY slot')).toEqual(before)
    const [counts] = await store.rows(`
      SELECT version, (SELECT count(*) FROM attempt_rows)::INTEGER AS widest,
        (SELECT count(*) FROM plain_rows)::INTEGER AS plain FROM store_version`)
    expect(counts).toEqual({ version: 3, widest: 20, plain: 0 })
    store.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a store that is not there is named, and no empty file is left behind', async () => {
  const path = join(tmpdir(), `assay-none-${process.pid}.duckdb`)
  await expect(openExistingStore(path)).rejects.toThrow(`There is no store at ${path}.`)
  expect(existsSync(path)).toBe(false)
})
