import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Batch, batchRows, Words } from '../../src/attempt/batch.ts'
import type { AttemptRow } from '../../src/attempt/columns.ts'

import { journalPath } from '../../src/store/journal.ts'
import { openStore } from '../../src/store/open.ts'
import { Recorder } from '../../src/store/recorder.ts'
import { rowGroupRows } from '../../src/store/row-appender.ts'
import { plainRow } from './plain-row.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-journal-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Records rows of ever new slots until told to look at the files as a kill would leave them. */
async function recording(name: string) {
  const path = join(folder, `${name}.duckdb`)
  const store = await openStore(path)
  const recorder = await Recorder.open(store)
  const words = new Words()
  let slot = 0
  let copies = 0
  return {
    append(rows: number, change: Partial<AttemptRow> = {}): void {
      const batch = new Batch()
      for (let at = 0; at < rows; at++, slot++) {
        const responseId = slot % 3 === 0 ? null : `chatcmpl-of-slot-${slot}`
        batch.push(
          plainRow(slot, { step: `step ${slot % 7}`, responseId, doneUs: slot, ...change }),
          words,
        )
      }
      recorder.appendBatch(0, { buffer: batch.buffer, rows, newWords: words.takeNew() })
    },
    /** @returns the path of a copy of the store, its log and its journal */
    killed(): string {
      const copy = join(folder, `${name}-${copies++}.duckdb`)
      for (const file of [(p: string) => p, (p: string) => `${p}.wal`, journalPath]) {
        if (existsSync(file(path))) copyFileSync(file(path), file(copy))
      }
      return copy
    },
    async close(): Promise<void> {
      await recorder.close()
      store.close()
    },
    path,
  }
}

/** How many rows there are, and that they are the first ones, each once and whole. */
async function rowsOf(path: string): Promise<number> {
  const store = await openStore(path)
  const [row] = await store.rows<{ n: number; wrong: number }>(
    `SELECT count(*)::INTEGER AS n, count(*) FILTER (
       slot <> place OR done_us <> slot OR step <> 'step ' || slot % 7
       OR response_id IS DISTINCT FROM CASE WHEN slot % 3 > 0 THEN 'chatcmpl-of-slot-' || slot END
     )::INTEGER AS wrong
     FROM (SELECT *, row_number() OVER (ORDER BY slot) - 1 AS place FROM attempts)`,
  )
  store.close()
  expect(row!.wrong).toBe(0)
  return row!.n
}

test('a kill loses no row that was appended, and opening the store takes the journal in once', async () => {
  const writer = await recording('once')
  writer.append(100)
  writer.append(1)
  writer.append(batchRows)
  const copy = writer.killed()
  const journal = readFileSync(journalPath(copy))
  await writer.close()
  expect(await rowsOf(copy)).toBe(101 + batchRows)
  expect(existsSync(journalPath(copy))).toBe(false)
  // As if the one that took it in had been killed before it took the file away.
  writeFileSync(journalPath(copy), journal)
  expect(await rowsOf(copy)).toBe(101 + batchRows)
  expect(existsSync(journalPath(writer.path))).toBe(false)
  expect(await rowsOf(writer.path)).toBe(101 + batchRows)
})

test('rows on both sides of a row group are there once, wherever the kill falls', async () => {
  const writer = await recording('groups')
  // The first rows lie in a smaller table than those that fill the row group.
  writer.append(40)
  let appended = 40
  const copies: { path: string; rows: number }[] = []
  for (const rows of [rowGroupRows - 700, 500, 200, 900]) {
    for (let left = rows; left > 0; left -= batchRows)
      writer.append(Math.min(left, batchRows), { session: 3 })
    appended += rows
    copies.push({ path: writer.killed(), rows: appended })
  }
  await writer.close()
  for (const copy of copies) expect(await rowsOf(copy.path)).toBe(copy.rows)
  expect(await rowsOf(writer.path)).toBe(appended)
})

test('a kill loses no row where rows begin to need a larger table', async () => {
  const writer = await recording('forms')
  const changes = [{}, { session: 3 }, { retryAfter: 0.5 }, {}]
  const copies: string[] = []
  for (const change of changes) {
    for (let nth = 0; nth < 3; nth++) {
      writer.append(40, change)
      copies.push(writer.killed())
    }
  }
  await writer.close()
  const found: number[] = []
  for (const copy of copies) found.push(await rowsOf(copy))
  expect(found).toEqual(copies.map((_, at) => (at + 1) * 40))
  expect(await rowsOf(writer.path)).toBe(copies.length * 40)
})

test('a record that the kill cut off is left out, and those before it are kept', async () => {
  const writer = await recording('cut')
  for (const rows of [10, 20, 30]) writer.append(rows)
  const copy = writer.killed()
  await writer.close()
  const [store, journal] = [readFileSync(copy), readFileSync(journalPath(copy))]
  const wal = readFileSync(`${copy}.wal`)
  const found = new Map<number, number>()
  for (const share of [0, 0.001, 0.2, 0.5, 0.8, 0.999, 1]) {
    writeFileSync(copy, store)
    writeFileSync(`${copy}.wal`, wal)
    writeFileSync(journalPath(copy), journal.subarray(0, Math.floor(journal.length * share)))
    found.set(share, await rowsOf(copy))
  }
  expect([...found.values()]).toEqual([0, 0, 10, 10, 30, 30, 60])
})

test('a journal of another form is refused by its name, and a store made anew takes none', async () => {
  const path = join(folder, 'other.duckdb')
  ;(await openStore(path)).close()
  writeFileSync(journalPath(path), 'assay journal 99 0'.padEnd(64))
  await expect(openStore(path)).rejects.toThrow(`${path}.journal holds rows of a killed run`)
  rmSync(path)
  ;(await openStore(path)).close()
  expect(existsSync(journalPath(path))).toBe(false)
})
