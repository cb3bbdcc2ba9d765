import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Batch, batchRows, Dictionary } from '../../src/attempt/batch.ts'
import { type AttemptRow, columnNames, sqlName } from '../../src/attempt/columns.ts'
import { forms } from '../../src/store/attempts/layout.ts'
import { Recorder } from '../../src/store/attempts/recorder.ts'
import { tries } from '../nightly/tries.ts'
import { openStore, type Store } from './opened.ts'
import { plainRow } from './plain-row.ts'

const plain: Partial<AttemptRow> = {
  session: null,
  turn: null,
  dispatchedUs: 1005,
  closedUs: null,
  firstEventUs: null,
  firstContentUs: null,
  lastContentUs: null,
  creditsRemaining: 99,
  rateLimit: null,
  events: 0,
  contentEvents: 0,
  contentReads: 0,
  itlMaxUs: null,
}
const edge = 2 ** 31

/** Rows by the smaller table that holds them: their differences from a plain one. */
const kinds = {
  narrow_rows: [
    {},
    { creditsRemaining: null, closedUs: 1000 + edge - 1 },
    { dispatchedUs: 1000 - edge, rateReset: -edge, bytesIn: edge - 1 },
    { dispatchedUs: null, retryAfter: 0, dateS: edge - 1 },
    { firstEventUs: 1000 },
    { queueUs: 0, prefillUs: edge - 1 },
    { itlMaxUs: 12.5, events: 3, contentEvents: 2 },
    { session: 0, turn: 0 },
    { contentReads: 1 },
    { lastContentUs: 1001, firstContentUs: 1000 },
  ],
  attempt_rows: [
    { creditsRemaining: 0.5 },
    { creditsRemaining: edge },
    { rateReset: -edge - 1 },
    { retryAfter: Number.POSITIVE_INFINITY },
    { closedUs: 1000 + edge },
    { dispatchedUs: 1000 - edge - 1 },
    { slot: edge },
    { decodeUs: edge },
    { dateS: edge },
    { bytesIn: 2 ** 40 },
  ],
} as const satisfies Record<string, readonly Partial<AttemptRow>[]>

const tables = forms.map(({ table }) => table)

/** Records batches of plain rows, each with one different row in the middle. */
async function recorded(store: Store, odd: readonly Partial<AttemptRow>[], rowsOfEach: number) {
  const recorder = await Recorder.open(store)
  const words = new Dictionary()
  const rows: AttemptRow[] = []
  for (const [nth, other] of odd.entries()) {
    const batch = new Batch()
    for (let at = 0; at < rowsOfEach; at++) {
      const slot = nth * rowsOfEach + at
      const row = plainRow(slot, {
        ...plain,
        slot,
        intendedUs: 1000,
        ...(at === rowsOfEach >> 1 ? other : {}),
      })
      batch.push(row, words)
      rows.push(row)
    }
    recorder.appendBatch(0, { buffer: batch.buffer, rows: batch.rows, newWords: words.takeNew() })
  }
  await recorder.close()
  return rows
}

async function countsOf(store: Store): Promise<readonly number[]> {
  const counts: number[] = []
  for (const table of tables) {
    const [row] = await store.rows<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM ${table}`)
    counts.push(row!.n)
  }
  return counts
}

async function attemptsOf(store: Store): Promise<readonly AttemptRow[]> {
  const list = columnNames.map((name) => `${sqlName(name)} AS "${name}"`).join()
  return store.rows<AttemptRow>(`SELECT ${list} FROM attempts`)
}

const kindsOfRows = tables.flatMap((table, at) => kinds[table].map((odd) => ({ table, at, odd })))

test.each(kindsOfRows)(
  'a row with $odd is in $table and is read back unchanged',
  async ({ at, odd }) => {
    const store = await openStore(':memory:')
    const rows = await recorded(store, [odd], 67)
    expect(await attemptsOf(store)).toEqual(rows)
    expect(await countsOf(store)).toEqual(tables.map((_, table) => (table === at ? 67 : 0)))
    store.close()
  },
)

test('once a row needs a larger table, all rows after it go there, in order', {
  tags: 'whole',
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kindsOfRows), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 70 }),
      async (batches, rowsOfEach) => {
        const store = await openStore(':memory:')
        const rows = await recorded(
          store,
          batches.map(({ odd }) => odd),
          rowsOfEach,
        )
        const found = await attemptsOf(store)
        const counts = await countsOf(store)
        store.close()
        expect(found).toEqual(rows)
        const expected = tables.map(() => 0)
        let form = 0
        for (const { at } of batches) {
          form = Math.max(form, at)
          expected[form]! += rowsOfEach
        }
        expect(counts).toEqual(expected)
      },
    ),
    { numRuns: tries(6, 30) },
  )
})

test('a column that is null in whole batches has its values again in later batches', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const words = new Dictionary()
  const values = [null, null, 7, null, null] as const
  for (const [nth, retryAfter] of values.entries()) {
    const batch = new Batch()
    for (let at = 0; at < batchRows; at++) {
      batch.push(plainRow(nth * batchRows + at, { ...plain, retryAfter }), words)
    }
    const newWords = words.takeNew()
    recorder.appendBatch(0, { buffer: batch.buffer, rows: batch.rows, newWords })
  }
  await recorder.close()
  const found = await store.rows(
    `SELECT (slot // ${batchRows})::INTEGER AS nth, retry_after, count(*)::INTEGER AS rows
     FROM attempts GROUP BY ALL ORDER BY nth`,
  )
  expect(found).toEqual(
    values.map((retryAfter, nth) => ({ nth, retry_after: retryAfter, rows: batchRows })),
  )
  store.close()
})
