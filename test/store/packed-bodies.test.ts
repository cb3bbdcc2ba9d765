import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { BodyRow } from '../../src/attempt/evidence.ts'
import {
  bodiesPath,
  longestInline,
  readPackedBodies,
} from '../../src/store/attempts/packed-bodies.ts'
import { Recorder } from '../../src/store/attempts/recorder.ts'
import { openStore } from './opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-bodies-'))
afterAll(() => rmSync(folder, { recursive: true }))

const bodyRow = (slot: number, body: string): BodyRow => ({
  runId: 'run-1',
  slot,
  retry: 0,
  headers: 'content-type: text/event-stream',
  body,
  truncated: false,
})

/** The memory bound of a run's recorder. */
const memoryMiB = 128

test('bodies of any length fit a recorder of 128 MiB, and are read back unchanged', {
  tags: 'whole',
}, async () => {
  const path = join(folder, 'long.duckdb')
  const store = await openStore(path)
  const recorder = await Recorder.open(store, memoryMiB)
  // More than one vector of DuckDB, and more than its memory: 2,100 bodies of 96 KiB.
  const bodies = Array.from({ length: 2100 }, (_, slot) =>
    `${slot} é ${randomBytes(48).toString('hex')} `.repeat(950),
  )
  for (let from = 0; from < bodies.length; from += 100) {
    recorder.appendBodies(
      bodies.slice(from, from + 100).map((body, at) => bodyRow(from + at, body)),
    )
    if (from % 500 === 0) recorder.flush()
  }
  recorder.appendBodies([bodyRow(2100, 'short'), bodyRow(2101, 'x'.repeat(longestInline))])
  await recorder.close()
  const rows = await store.rows<{ body: string | null; packed_at: number | null }>(
    'SELECT body, packed_at FROM bodies ORDER BY slot',
  )
  store.close()
  const packed = readPackedBodies(
    path,
    rows.map(({ packed_at }) => packed_at),
  )
  expect(packed.slice(0, 2100)).toEqual(bodies)
  expect(rows.slice(2100)).toEqual([
    { body: 'short', packed_at: null },
    { body: 'x'.repeat(longestInline), packed_at: null },
  ])
  expect(statSync(path).size + statSync(bodiesPath(path)).size).toBeLessThan(20e6)
  expect(recorder.bodiesGivenUp).toBe(0)
})

test('a body with missing or damaged bytes is null, never another body', { tags: 'whole' }, () => {
  const path = join(folder, 'long.duckdb')
  truncateSync(bodiesPath(path), 40)
  expect(readPackedBodies(path, [0, 8, 1e9, null])).toEqual([null, null, null, null])
  expect(readPackedBodies(join(folder, 'no-such'), [0])).toEqual([null])
})

test.skipIf(!existsSync('/dev/full'))(
  'on a full disk bodies are given up (needs /dev/full)',
  async () => {
    const path = join(folder, 'full.duckdb')
    symlinkSync('/dev/full', bodiesPath(path))
    const store = await openStore(path)
    const recorder = await Recorder.open(store, memoryMiB)
    recorder.appendBodies([
      bodyRow(0, 'short'),
      bodyRow(1, 'y'.repeat(20_000)),
      bodyRow(2, 'short'),
    ])
    expect(recorder.bodiesGivenUp).toBe(2)
    await recorder.close()
    expect(await store.rows('SELECT slot FROM bodies')).toEqual([{ slot: 0 }])
    store.close()
  },
)
