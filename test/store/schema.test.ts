import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attemptColumns, columnNames, sqlName, sqlTypes } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { openExistingStore, openStore } from '../../src/store/open.ts'

test('the columns of attempts in the store are the columns of the row type, in order', async () => {
  const store = await openStore(':memory:')
  const found = await store.rows(
    `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_name = 'attempts' ORDER BY ordinal_position`,
  )
  store.close()
  expect(found).toEqual(
    columnNames.map((name) => ({
      name: sqlName(name),
      type: sqlTypes[attemptColumns[name].kind],
      nullable: attemptColumns[name].nullable,
    })),
  )
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
    await expect(openStore(path)).rejects.toThrow(/store of version 0; this Assay reads version 1/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a store that is not there is named, and no empty file is left behind', async () => {
  const path = join(tmpdir(), `assay-none-${process.pid}.duckdb`)
  await expect(openExistingStore(path)).rejects.toThrow(`There is no store at ${path}.`)
  expect(existsSync(path)).toBe(false)
})
