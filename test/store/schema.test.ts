import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, onTestFinished, test } from 'vitest'
import { attemptColumns, columnNames, sqlName, sqlTypes } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { endpoints, generating } from '../../src/contract/request.ts'
import { rowColumns, shared } from '../../src/store/attempts/layout.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import {
  builtStorePath,
  makeEmptyStore,
  placeEmptyStore,
  storeVersion,
} from '../../src/store/session/empty-store.ts'
import type { Cell } from '../../src/store/session/session.ts'
import { attempt, enterRun } from '../report/attempts.ts'
import { openExistingStore, openStore, type Store } from './opened.ts'
import { plainRow } from './plain-row.ts'

const columnsOf = (store: Store, table: string) =>
  store.rows<{ name: string; type: string; nullable: boolean }>(
    `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`,
    [table],
  )

/** Bypasses the store, as another program would. */
async function askTheirs(path: string, sql: string) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(sql)
  connection.closeSync()
  instance.closeSync()
  return reader.getRows()
}

/** All that a store says of itself. */
async function saidOf(path: string) {
  const store = await openStore(path)
  const tables = await store.rows('SELECT table_name, sql FROM duckdb_tables() ORDER BY ALL')
  const views = await store.rows(
    'SELECT view_name, sql, comment FROM duckdb_views() WHERE NOT internal ORDER BY ALL',
  )
  const columns = await store.rows(
    `SELECT table_name, column_index, column_name, data_type, is_nullable, column_default, comment
     FROM duckdb_columns() WHERE NOT internal ORDER BY ALL`,
  )
  const version = await store.rows('FROM store_version')
  store.close()
  // A view that was bound prints its types, one that was not their names.
  const sqlOf = (sql: Cell | undefined) => String(sql).replaceAll('"DOUBLE"', 'DOUBLE')
  return { tables, columns, version, views: views.map((v) => ({ ...v, sql: sqlOf(v.sql) })) }
}

test('a store that is a copy of the built one equals a store that its statements make', {
  tags: 'whole',
}, async () => {
  expect(existsSync(builtStorePath())).toBe(true)
  const folder = mkdtempSync(join(tmpdir(), 'assay-empty-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const placed = join(folder, 'placed.duckdb')
  placeEmptyStore(placed)
  expect(readFileSync(placed)).toEqual(readFileSync(builtStorePath()))
  expect(readdirSync(folder)).toEqual(['placed.duckdb'])
  // A database without tables gets them from the built store, or from the statements if it has the same name.
  const [filled, stated] = [join(folder, 'filled.duckdb'), join(folder, 'assay_empty_store.duckdb')]
  for (const path of [filled, stated]) await askTheirs(path, 'SELECT 1')
  const made = await saidOf(stated)
  const copied = await saidOf(placed)
  expect(copied).toEqual(made)
  expect(await saidOf(filled)).toEqual(made)
  expect(copied.views.length).toBeGreaterThan(5)
  expect(copied.columns.filter(({ comment }) => comment !== null)).toHaveLength(columnNames.length)
})

test('no copy is placed over a file, beside the log of a store that is gone, or without a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-empty-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const theirs = join(folder, 'theirs.duckdb')
  writeFileSync(theirs, 'theirs')
  writeFileSync(join(folder, 'gone.duckdb.wal'), 'log')
  for (const path of [theirs, join(folder, 'gone.duckdb'), join(folder, 'none', 'a.duckdb')]) {
    placeEmptyStore(path)
  }
  expect(readFileSync(theirs, 'utf8')).toBe('theirs')
  expect(readdirSync(folder).toSorted()).toEqual(['gone.duckdb.wal', 'theirs.duckdb'])
})

test('a copy that fails leaves no open transaction: the statements that follow say what is wrong', async () => {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  // Its tables are there already, so neither can make them.
  await expect(makeEmptyStore(store)).rejects.toThrow(/already exists/)
})

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

test('the view of usage counts only the endpoints that generate', async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(
    store,
    endpoints.map((endpoint, slot) => attempt(slot, { endpoint })),
  )
  const found = await store.rows<{ endpoint: string }>(
    "SELECT endpoint FROM usage WHERE origin = 'run' ORDER BY endpoint",
  )
  store.close()
  expect(found.map(({ endpoint }) => endpoint)).toEqual(generating.toSorted())
})

test('the view of attempts describes each column', async () => {
  const store = await openStore(':memory:')
  const found = await store.rows<{ name: string; comment: string }>(
    `SELECT column_name AS name, comment FROM duckdb_columns() WHERE table_name = 'attempts'`,
  )
  store.close()
  expect(Object.fromEntries(found.map(({ name, comment }) => [name, comment]))).toEqual(
    Object.fromEntries(
      columnNames.map((name) => [sqlName(name), attemptColumns[name].description]),
    ),
  )
})

test('the row tables allow nulls only where the row type does', async () => {
  const store = await openStore(':memory:')
  for (const [table, names] of Object.entries({ ...shared, attempt_rows: rowColumns })) {
    const found = await columnsOf(store, table)
    const own = found.filter(({ name }) => name !== 'request_kind' && name !== 'ending')
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

test('the view of flags has a column for every flag, true where its bit is set', async () => {
  const store = await openStore(':memory:')
  const entries = Object.entries(flags)
  await appendAttempts(
    store,
    entries.map(([, bit], slot) => plainRow(slot, { flags: bit })),
  )
  const found = await store.rows('SELECT * EXCLUDE (run_id, slot, retry) FROM attempt_flags')
  store.close()
  expect(found).toEqual(
    entries.map((_, slot) =>
      Object.fromEntries(entries.map(([name], at) => [sqlName(name), at === slot])),
    ),
  )
})

test('a store of another version is refused with both versions named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'old.duckdb')
    const store = await openStore(path)
    await store.execute('UPDATE store_version SET version = 0')
    store.close()
    await expect(openStore(path)).rejects.toThrow(
      `store of version 0; this Assay reads version ${storeVersion}`,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a DuckDB file of another program is refused with its tables named, and is left unchanged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-store-'))
  try {
    const path = join(folder, 'theirs.duckdb')
    await askTheirs(path, 'CREATE TABLE orders (n INTEGER)')
    await expect(openStore(path)).rejects.toThrow(
      `${path} is not an Assay store: it has tables of another program (orders). Use another --db.`,
    )
    expect(await askTheirs(path, 'SELECT table_name FROM duckdb_tables()')).toEqual([['orders']])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a missing store is named, and no empty file is created', async () => {
  const path = join(tmpdir(), `assay-none-${process.pid}.duckdb`)
  await expect(openExistingStore(path)).rejects.toThrow(`There is no store at ${path}.`)
  expect(existsSync(path)).toBe(false)
})
