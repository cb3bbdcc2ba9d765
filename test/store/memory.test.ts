import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryLimit, spillElsewhere } from '../../src/store/session/memory.ts'
import { openStore, type Store } from './opened.ts'

const gib = 2 ** 30

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-'))
  path = join(folder, 's.duckdb')
})
afterEach(() => rmSync(folder, { recursive: true }))

const limitOf = async (store: Store) =>
  (await store.rows(`SELECT current_setting('memory_limit') AS "limit"`))[0]!.limit

test('the limit is a gibibyte for each thread, two at least, and four fifths of the memory at most', () => {
  expect(memoryLimit(2, 64 * gib)).toBe(2 * gib)
  expect(memoryLimit(1, 64 * gib)).toBe(2 * gib)
  expect(memoryLimit(16, 64 * gib)).toBe(16 * gib)
  expect(memoryLimit(64, 50 * gib)).toBe(40 * gib)
  expect(memoryLimit(2, gib)).toBe(Math.floor(0.8 * gib))
})

test('a file opens with the limit; a store in memory has that of the machine', async () => {
  const [file, memory] = [await openStore(path), await openStore(':memory:')]
  const limit = await limitOf(file)
  await file.execute(`SET memory_limit = '${memoryLimit()}B'`)
  expect(await limitOf(file)).toBe(limit)
  await memory.execute('RESET memory_limit')
  expect(await limitOf(memory)).not.toBe(limit)
  file.close()
  memory.close()
})

/** Sorts more than fits in memory, and looks at the folder meanwhile. */
async function spill(store: Store, look: () => void): Promise<void> {
  await store.execute(`SET memory_limit = '40MB'; SET threads = 1`)
  await store.doubleBatches(
    `SELECT range::DOUBLE, random() AS a, random() AS b FROM range(2000000) ORDER BY a`,
    [],
    look,
  )
}

test('what does not fit in memory is beside the file, and gone when it is closed', {
  tags: 'whole',
}, async () => {
  const store = await openStore(path)
  const seen = new Set<string>()
  await spill(store, () => {
    for (const name of readdirSync(folder)) seen.add(name)
  })
  store.close()
  expect([...seen]).toContain('s.duckdb.tmp')
  expect(readdirSync(folder)).toEqual(['s.duckdb'])
})

test('a folder that a killed process left is removed, and files of others in it are kept', {
  tags: 'whole',
}, async () => {
  const left = `${path}.tmp`
  mkdirSync(left)
  writeFileSync(join(left, 'duckdb_temp_storage_DEFAULT-0.tmp'), 'x')
  const store = await openStore(path)
  expect(existsSync(left)).toBe(false)
  store.close()
  mkdirSync(left)
  writeFileSync(join(left, 'mine.txt'), 'x')
  writeFileSync(join(left, 'duckdb_temp_storage_DEFAULT-0.tmp'), 'x')
  const again = await openStore(path)
  await spill(again, () => {})
  again.close()
  expect(readdirSync(left)).toEqual(['mine.txt'])
})

test('a file in a folder that nobody can write to spills elsewhere, and nowhere without a place', () => {
  const missing = join(folder, 'missing')
  expect(spillElsewhere(path)).toBe(null)
  expect(spillElsewhere(join(missing, 's.duckdb'), missing)).toBe(null)
  const elsewhere = spillElsewhere(join(missing, 's.duckdb'), folder)
  expect(dirname(elsewhere!)).toBe(folder)
  expect(readdirSync(elsewhere!)).toEqual([])
})
