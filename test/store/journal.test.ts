import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test, vi } from 'vitest'
import { Batch, batchRows, Dictionary } from '../../src/attempt/batch.ts'
import type { AttemptRow } from '../../src/attempt/columns.ts'

import { Journal, journalPath, readJournal } from '../../src/store/attempts/journal.ts'
import { Recorder } from '../../src/store/attempts/recorder.ts'
import { rowGroupRows } from '../../src/store/attempts/row-appender.ts'
import { UserError } from '../../src/user/user-error.ts'
import { openStore } from './opened.ts'
import { plainRow } from './plain-row.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-journal-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Records rows with new slots, and can copy the files as a kill would leave them. */
async function recording(name: string) {
  const path = join(folder, `${name}.duckdb`)
  const store = await openStore(path)
  const recorder = await Recorder.open(store)
  const words = new Dictionary()
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

/** The row count, after a check that they are the first ones, each once and complete. */
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

test('a kill loses no appended row, and opening the store takes in the journal once', {
  tags: 'whole',
}, async () => {
  const writer = await recording('once')
  writer.append(100)
  writer.append(1)
  writer.append(batchRows)
  const copy = writer.killed()
  const journal = readFileSync(journalPath(copy))
  await writer.close()
  expect(await rowsOf(copy)).toBe(101 + batchRows)
  expect(existsSync(journalPath(copy))).toBe(false)
  // As if the first reader had been killed before it removed the journal.
  writeFileSync(journalPath(copy), journal)
  expect(await rowsOf(copy)).toBe(101 + batchRows)
  expect(existsSync(journalPath(writer.path))).toBe(false)
  expect(await rowsOf(writer.path)).toBe(101 + batchRows)
})

test('rows on both sides of a row group are there once, wherever the kill falls', {
  tags: 'whole',
}, async () => {
  const writer = await recording('groups')
  // The first rows are in a smaller table than those that fill the row group.
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

test('a kill loses no row at the switch to a larger table', { tags: 'whole' }, async () => {
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

test('a record that the kill cut off is dropped, and those before it are kept', {
  tags: 'whole',
}, async () => {
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

/** Opens the store, and returns its rows and its messages about the journal. */
async function opened(path: string): Promise<{ readonly slots: string; readonly message: string }> {
  let message = ''
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    message += text
    return true
  })
  const store = await openStore(path)
  stderr.mockRestore()
  const [row] = await store.rows<{ slots: string | null }>(
    `SELECT string_agg(slot::VARCHAR, ' ' ORDER BY slot) AS slots FROM attempts`,
  )
  store.close()
  return { slots: row!.slots ?? '', message }
}

const slotsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => from + at).join(' ')

/** Three records, of 10, 20 and 30 rows. */
async function threeRecords(name: string): Promise<{ copy: string; starts: readonly number[] }> {
  const writer = await recording(name)
  for (const rows of [10, 20, 30]) writer.append(rows)
  const copy = writer.killed()
  await writer.close()
  const bytes = readFileSync(journalPath(copy))
  const starts: number[] = []
  for (let at = bytes.indexOf('ASJR'); at >= 0; at = bytes.indexOf('ASJR', at + 1)) starts.push(at)
  expect(starts).toHaveLength(3)
  return { copy, starts }
}

test('a journal with a damaged record gives all others, reports it, and is set aside', {
  tags: 'whole',
}, async () => {
  const { copy, starts } = await threeRecords('zeroed')
  const bytes = readFileSync(journalPath(copy))
  bytes.fill(0, starts[1]! + 600, starts[1]! + 700)
  writeFileSync(journalPath(copy), bytes)
  const { slots, message } = await opened(copy)
  expect(slots).toBe(`${slotsOf(0, 10)} ${slotsOf(30, 60)}`)
  const aside = `${journalPath(copy)}.damaged`
  const lost = starts[2]! - starts[1]!
  expect(message).toBe(
    `40 rows of a killed run were taken from ${journalPath(copy)}; ${lost} bytes, of 20 rows or more, are damaged or cut off. The file is kept as ${aside}.\n`,
  )
  expect(readFileSync(aside)).toEqual(bytes)
  expect(await opened(copy)).toEqual({ slots, message: '' })
})

test('a journal with a wrong length in a record still gives the others', async () => {
  const { copy, starts } = await threeRecords('length')
  const bytes = readFileSync(journalPath(copy))
  bytes.writeUInt32LE(0xfffffff0, starts[1]! + 4)
  bytes.writeInt32LE(-5, starts[1]! + 8)
  writeFileSync(journalPath(copy), bytes)
  expect((await opened(copy)).slots).toBe(`${slotsOf(0, 10)} ${slotsOf(30, 60)}`)
})

test('every record that damage to a journal spares is read', async () => {
  const { copy, starts } = await threeRecords('fuzzed')
  const whole = readFileSync(journalPath(copy))
  const ends = [...starts.slice(1), whole.length]
  const path = join(folder, 'fuzzed.bytes')
  fc.assert(
    fc.property(
      fc.nat(whole.length - 64 - 1),
      fc.uint8Array({ minLength: 1, maxLength: 40_000 }),
      fc.boolean(),
      (from, over, cut) => {
        const bytes = Buffer.from(cut ? whole.subarray(0, 64 + from) : whole)
        if (!cut) bytes.set(over.subarray(0, whole.length - 64 - from), 64 + from)
        writeFileSync(path, bytes)
        const to = cut ? whole.length : 64 + from + over.length
        const spared = starts.flatMap((start, nth) =>
          ends[nth]! <= 64 + from || start >= to ? [[0, 10, 30][nth]!] : [],
        )
        const found = readJournal(path)
        const same = bytes.equals(whole)
        expect(found.records.map(({ place }) => place)).toEqual(same ? [0, 10, 30] : spared)
        // A cut between two records is the normal result of a kill.
        const clean = same || (cut && [64, ...ends].includes(bytes.length))
        expect(found.bytesLost > 0).toBe(!clean)
      },
    ),
    { numRuns: 100 },
  )
})

test('a journal of many small records is taken in with little memory', {
  tags: 'whole',
}, async () => {
  const writer = await recording('small')
  for (let nth = 0; nth < 300; nth++) writer.append(1)
  const copy = writer.killed()
  await writer.close()
  const before = process.memoryUsage().arrayBuffers
  const found = readJournal(journalPath(copy))
  expect(found.records).toHaveLength(300)
  // Decompressed all at once, they would take two hundred megabytes.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50e6)
})

test('a record that is there twice counts once', async () => {
  const writer = await recording('twice')
  for (let nth = 0; nth < 3; nth++) writer.append(1)
  const copy = writer.killed()
  await writer.close()
  const bytes = readFileSync(journalPath(copy))
  const again = bytes.subarray(64)
  writeFileSync(journalPath(copy), Buffer.concat([bytes, again]))
  const found = readJournal(journalPath(copy))
  expect(found).toMatchObject({ rowsLost: 0, bytesLost: again.length })
  expect(found.records.map(({ place }) => place)).toEqual([0, 1, 2])
})

test('a journal whose store lost its log is set aside, never deleted', async () => {
  const { copy } = await threeRecords('no-log')
  const journal = readFileSync(journalPath(copy))
  rmSync(`${copy}.wal`)
  const { slots, message } = await opened(copy)
  expect(slots).toBe('')
  expect(message).toContain('the store lacks what 60 rows belong to, as when its .wal file is gone')
  expect(readFileSync(`${journalPath(copy)}.damaged`)).toEqual(journal)
})

test('a journal of another version is refused by name, and a recreated store takes in none', async () => {
  const path = join(folder, 'other.duckdb')
  ;(await openStore(path)).close()
  writeFileSync(journalPath(path), 'assay journal 99 0'.padEnd(64))
  await expect(openStore(path)).rejects.toThrow(`${path}.journal holds rows of a killed run`)
  const { copy } = await threeRecords('anew')
  for (const file of [copy, `${copy}.wal`]) rmSync(file)
  expect((await opened(copy)).slots).toBe('')
  expect(existsSync(journalPath(copy))).toBe(false)
  expect(existsSync(`${journalPath(copy)}.damaged`)).toBe(true)
})

test('an empty journal is kept, because nobody knows what it held', async () => {
  const path = join(folder, 'empty.duckdb')
  ;(await openStore(path)).close()
  writeFileSync(journalPath(path), '')
  ;(await openStore(path)).close()
  expect(existsSync(journalPath(path))).toBe(false)
  expect(existsSync(`${journalPath(path)}.damaged`)).toBe(true)
})

test('a journal that cannot be written, cut or made safe says so, and leaves no file open', () => {
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  expect(() => new Journal('/dev/full', 0)).toThrow(UserError)
  expect(open()).toBe(before)
  const unable = new Journal('/dev/null', 0)
  expect(() => unable.restart()).toThrow(UserError)
})
