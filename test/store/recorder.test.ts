import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { Batch, batchRows, Dictionary } from '../../src/attempt/batch.ts'
import { rowsOfBatch } from '../../src/attempt/batch-rows.ts'
import {
  type AttemptRow,
  attemptColumns,
  type Column,
  columnNames,
  sqlName,
} from '../../src/attempt/columns.ts'
import { journalPath } from '../../src/store/attempts/journal.ts'
import { bodiesPath, longestInline } from '../../src/store/attempts/packed-bodies.ts'
import { appendAttempts, evidenceColumnsOf, Recorder } from '../../src/store/attempts/recorder.ts'
import { endRun, startRun } from '../../src/store/runs/runs.ts'
import { openStore, type Store } from './opened.ts'
import { plainRow } from './plain-row.ts'

const anyText = fc.oneof(fc.string({ maxLength: 14 }), fc.string({ unit: 'binary', maxLength: 60 }))
const wellFormed = anyText.filter((text) => text.isWellFormed() && !text.includes('\0'))

const anyValue = (column: Column): fc.Arbitrary<string | number | null> => {
  const values: Record<Column['kind'], fc.Arbitrary<string | number>> = {
    micros: fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
    index: fc.nat({ max: 2 ** 53 - 1 }),
    number: fc.double({ noNaN: true }),
    count: fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
    bits: fc.nat({ max: 2 ** 32 - 1 }),
    word: wellFormed,
    text: wellFormed,
  }
  return column.nullable ? fc.option(values[column.kind], { nil: null }) : values[column.kind]
}

const anyRow = fc.record(
  Object.fromEntries(columnNames.map((name) => [name, anyValue(attemptColumns[name])])),
) as unknown as fc.Arbitrary<AttemptRow>

async function attemptsOf(store: Store, fromSlot = 0): Promise<readonly AttemptRow[]> {
  const list = columnNames.map((name) => `${sqlName(name)} AS "${name}"`).join()
  return store.rows<AttemptRow>(
    `SELECT ${list} FROM attempts WHERE slot >= ${fromSlot} ORDER BY slot`,
  )
}

test('appended rows are read back, cell by cell', { tags: 'whole' }, async () => {
  const store = await openStore(':memory:')
  let slot = 2 ** 52
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 0, maxLength: 70 }), async (given) => {
      const fromSlot = slot
      const rows = given.map((row) => ({ ...row, slot: slot++ }))
      await appendAttempts(store, rows)
      const back = await attemptsOf(store, fromSlot)
      // DuckDB has no -0 of its own for whole numbers.
      expect(back.map((row) => JSON.stringify(row))).toEqual(
        rows.map((row) => JSON.stringify(inOrder(row))),
      )
    }),
    { numRuns: 25 },
  )
  store.close()
})

test('a text that begins with a byte order mark is read back with it, short or long', async () => {
  const store = await openStore(':memory:')
  const given = ['\ufeffshort', '\ufeffa text of more than twelve bytes', '\ufeff\ufeff'].map(
    (text, slot) => plainRow(slot, { responseId: text, responseModel: text }),
  )
  await appendAttempts(store, given)
  const back = await attemptsOf(store)
  expect(back.map(({ responseId, responseModel }) => [responseId, responseModel])).toEqual(
    given.map(({ responseId, responseModel }) => [responseId, responseModel]),
  )
  store.close()
})

test('rows of a batch are told as they are stored, also at half a microsecond', async () => {
  const store = await openStore(':memory:')
  const words = new Dictionary()
  const batch = new Batch()
  const times = [0, -0.25, 0.5, 1.5, 517_336.5, 517_337.5, -2.5, 2 ** 40 + 0.5]
  for (const [slot, closedUs] of times.entries()) {
    batch.push({ ...plainRow(slot), closedUs }, words)
  }
  const newWords = words.takeNew()
  const told = rowsOfBatch(batch, newWords)
  const recorder = await Recorder.open(store)
  recorder.appendBatch(0, { buffer: batch.buffer, rows: batch.rows, newWords })
  await recorder.close()
  expect(told).toEqual(await attemptsOf(store))
  expect(told.map(({ closedUs }) => closedUs)).toEqual([
    ...[0, 0, 0, 2, 517_336, 517_338, -2, 2 ** 40],
  ])
  store.close()
})

const inOrder = (row: AttemptRow) =>
  Object.fromEntries(columnNames.map((name) => [name, row[name]]))

test('each sender has its own word codes, and a word list grows over many batches', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const senders = [new Dictionary(), new Dictionary()]
  for (let round = 0; round < 3; round++) {
    for (const [sender, words] of senders.entries()) {
      const batch = new Batch()
      for (let index = 0; index < 1500; index++) {
        const step = `a step with a long name ${sender}-${(round * 7 + index) % 2500}`
        batch.push(plainRow(round * 1500 + index, { shard: sender, step }), words)
      }
      recorder.appendBatch(sender, {
        buffer: batch.buffer,
        rows: batch.rows,
        newWords: words.takeNew(),
      })
    }
  }
  recorder.flush()
  const [wrong] = await store.rows<{ n: number; all: number }>(
    `SELECT count(*) FILTER (step <> 'a step with a long name ' || shard || '-' ||
            ((slot // 1500) * 7 + slot % 1500) % 2500)::INTEGER AS n,
            count(*)::INTEGER AS all FROM attempts`,
  )
  await recorder.close()
  store.close()
  expect(wrong).toEqual({ n: 0, all: 9000 })
})

test('invalid UTF-8 in the arena is replaced before it reaches the store', async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const words = new Dictionary()
  const batch = new Batch()
  batch.push(plainRow(0, { responseId: 'chatcmpl-0123456789' }), words)
  batch.push(plainRow(1, { responseId: 'chatcmpl-9876543210' }), words)
  batch.arena[3] = 0xff
  recorder.appendBatch(0, { buffer: batch.buffer, rows: 2, newWords: words.takeNew() })
  await recorder.close()
  const ids = (await attemptsOf(store)).map((row) => row.responseId)
  store.close()
  expect(ids).toEqual(['cha\ufffdcmpl-0123456789', 'chatcmpl-9876543210'])
})

test('half a character at the end of one text and at the start of the next are replaced in both', async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const words = new Dictionary()
  const batch = new Batch()
  batch.push(plainRow(0, { responseId: 'chatcmpl-012345678X' }), words)
  batch.push(plainRow(1, { responseId: 'Xchatcmpl-987654321' }), words)
  // The two bytes of é, each in another text: the arena as a whole is UTF-8.
  const end = batch.arena.indexOf('XX')
  batch.arena[end] = 0xc3
  batch.arena[end + 1] = 0xa9
  recorder.appendBatch(0, { buffer: batch.buffer, rows: 2, newWords: words.takeNew() })
  await recorder.close()
  const ids = (await attemptsOf(store)).map((row) => row.responseId)
  store.close()
  expect(ids).toEqual(['chatcmpl-012345678\ufffd', '\ufffdchatcmpl-987654321'])
})

test('a table that does not match the row type is refused before anything is copied', async () => {
  const store = await openStore(':memory:')
  await store.execute('ALTER TABLE attempt_rows ALTER bytes_in TYPE UBIGINT')
  await expect(appendAttempts(store, [])).rejects.toThrow(
    /UBIGINT; this Assay writes .*Use another/,
  )
  store.close()
})

test('the minor tables have the columns of the schema, in order', async () => {
  const store = await openStore(':memory:')
  for (const table of ['templates', 'bodies', 'histograms', 'health'] as const) {
    const found = await store.rows<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_name = $1 ORDER BY ordinal_position`,
      [table],
    )
    expect(evidenceColumnsOf(table)).toEqual(found.map((column) => column.name))
  }
  store.close()
})

test('evidence, histograms and health are read back unchanged', async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const body = {
    runId: 'r',
    slot: 2 ** 40,
    retry: 1,
    headers: 'a: b',
    body: '{"x":1}',
    truncated: true,
  }
  const histogram = {
    runId: 'r',
    phase: 'p',
    part: 'steady',
    step: 'chat',
    metric: 'ttft',
    intervalUs: 5_000_000,
    intervalLengthUs: 1_000_000,
    samples: 3,
    hdr: new Uint8Array([0, 1, 255]),
  }
  const health = {
    runId: 'r',
    shard: -1,
    atUs: 1e6,
    loopDelayP99Us: 12.5,
    loopGapUs: 0,
    loopGapEndUs: null,
    utilisation: 0.25,
    lagP99Us: null,
    inFlight: 0,
    queuedBatches: 2,
  }
  recorder.appendBodies([body])
  recorder.append('histograms', [histogram])
  recorder.append('health', [health])
  await recorder.close()
  const [found] = await store.rows(
    `SELECT slot, truncated, body, samples, hex(hdr) AS hdr, at_us, lag_p99_us, utilisation
     FROM bodies, histograms, health`,
  )
  store.close()
  expect(found).toEqual({
    slot: 2 ** 40,
    truncated: true,
    body: '{"x":1}',
    samples: 3,
    hdr: '0001FF',
    at_us: 1e6,
    lag_p99_us: null,
    utilisation: 0.25,
  })
})

test('more rows than one database chunk holds are all appended', async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const row = { runId: 'r', retry: 0, headers: '', body: '', truncated: false }
  recorder.appendBodies(Array.from({ length: 2 * batchRows + 1 }, (_, slot) => ({ ...row, slot })))
  await recorder.close()
  const found = await store.rows(
    'SELECT count(DISTINCT slot)::INTEGER AS n, max(slot)::INTEGER AS last FROM bodies',
  )
  store.close()
  expect(found).toEqual([{ n: 2 * batchRows + 1, last: 2 * batchRows }])
})

test('text is flushed every four million characters, however few the rows', async () => {
  const store = await openStore(':memory:')
  const recorder = await Recorder.open(store)
  const million = 1 << 20
  const body = (slot: number, characters: number) => {
    const row = { runId: 'r', slot, retry: 0, headers: '', truncated: false }
    return { ...row, body: 'x'.repeat(characters - 1) }
  }
  const inStore = async () =>
    (await store.rows<{ n: number }>('SELECT count(*)::INTEGER AS n FROM bodies'))[0]!.n
  // Four of a million, and four of which the last is one character shorter.
  recorder.appendBodies(
    [0, 1, 2, 3, 4, 5, 6, 7].map((slot) => body(slot, slot === 7 ? million - 1 : million)),
  )
  expect(await inStore()).toBe(4)
  recorder.flush()
  expect(await inStore()).toBe(8)
  // A row of a million is its own chunk: the last one waits.
  recorder.appendBodies([body(8, 3 * million), body(9, million), body(10, million)])
  expect(await inStore()).toBe(10)
  recorder.appendBodies([body(11, 4 * million - 1)])
  expect(await inStore()).toBe(10)
  await recorder.close()
  store.close()
})

test('a long body is stored outside of its row, and bodies without room are counted and left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-recorder-'))
  const kept = async (name: string, spoil: (path: string) => void) => {
    const path = join(folder, name)
    spoil(bodiesPath(path))
    const store = await openStore(path)
    const recorder = await Recorder.open(store)
    const row = (slot: number, length: number) => {
      const short = { runId: 'r', slot, retry: 0, headers: '', truncated: false }
      return { ...short, body: 'x'.repeat(length) }
    }
    recorder.appendBodies([row(0, longestInline), row(1, longestInline + 1), row(2, 1)])
    const givenUp = recorder.bodiesGivenUp
    recorder.flush()
    recorder.appendBodies([row(3, 1)])
    await recorder.close()
    const rows = await store.rows<{ slot: number; length: number; packed: number }>(
      'SELECT slot, length(body)::INTEGER AS length, packed_at AS packed FROM bodies ORDER BY slot',
    )
    store.close()
    return [givenUp, rows.map(({ slot, length, packed }) => [slot, length, packed])]
  }
  expect(await kept('a.duckdb', () => {})).toEqual([
    0,
    [
      [0, longestInline, null],
      [1, null, 0],
      [2, 1, null],
      [3, 1, null],
    ],
  ])
  // The next flush tries again.
  expect(await kept('b.duckdb', mkdirSync)).toEqual([
    2,
    [
      [0, longestInline, null],
      [3, 1, null],
    ],
  ])
  rmSync(folder, { recursive: true })
})

test('a run is entered without the credentials of its URL, and its end is added later', async () => {
  const store = await openStore(':memory:')
  await startRun(store, {
    runId: 'r',
    kind: 'run',
    scenario: 'quick',
    scenarioJson: '{}',
    seed: 7,
    baseUrl: 'http://user:secret@127.0.0.1:8080/base/?key=secret',
    contract: 'svc',
    startedAtUs: 1_700_000_000_123_456,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  })
  await endRun(store, 'r', {
    endedUs: 2e6,
    attemptCountsJson: '{}',
    verdict: 'valid',
    verdictJson: '[]',
  })
  const [run] = await store.rows(
    `SELECT base_url, epoch_us(started_at) AS us, ended_us, verdict FROM runs`,
  )
  store.close()
  expect(run).toEqual({
    base_url: 'http://127.0.0.1:8080/base',
    us: 1_700_000_000_123_456,
    ended_us: 2e6,
    verdict: 'valid',
  })
})

test('the journal is open before the first row, so that connections cannot take its descriptor', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  const path = join(folder, 's.duckdb')
  const store = await openStore(path)
  const recorder = await Recorder.open(store)
  expect(existsSync(journalPath(path))).toBe(true)
  await recorder.close()
  expect(existsSync(journalPath(path))).toBe(false)
  store.close()
  rmSync(folder, { recursive: true })
})

test('a recorder uses one thread, bounded memory and rare checkpoints, and refuses rows when closed', async () => {
  const store = await openStore(':memory:')
  const settings = async () =>
    (
      await store.rows(
        `SELECT current_setting('threads')::INTEGER AS threads,
           current_setting('memory_limit') AS memory,
           current_setting('checkpoint_threshold') AS checkpoint`,
      )
    )[0]
  const [before] = await store.rows<{ checkpoint: string }>(
    `SELECT current_setting('checkpoint_threshold') AS checkpoint`,
  )
  const recorder = await Recorder.open(store, 300)
  expect(await settings()).toEqual({ threads: 1, memory: '300.0 MiB', checkpoint: '32.0 MiB' })
  await recorder.close()
  expect(await settings()).toMatchObject({ checkpoint: before!.checkpoint })
  expect(() => recorder.append('health', [])).toThrow('recorder of :memory: is closed')
  store.close()
})

test('only the close of a recorder with more rows than one batch ends its tables with a checkpoint', async () => {
  const store = await openStore(':memory:')
  const asked: string[] = []
  const execute = store.execute.bind(store)
  const spy = vi.spyOn(store, 'execute').mockImplementation((sql) => {
    asked.push(sql)
    return execute(sql)
  })
  for (const [batches, checkpoints] of [
    [1, 0],
    [2, 1],
  ]) {
    const recorder = await Recorder.open(store)
    const words = new Dictionary()
    for (let at = 0; at < batches!; at++) {
      const batch = new Batch()
      for (let slot = 0; slot < batchRows; slot++) batch.push(plainRow(slot), words)
      const message = { buffer: batch.buffer, rows: batch.rows, newWords: words.takeNew() }
      expect(recorder.appendBatch(0, message)).toBe(batchRows)
    }
    asked.length = 0
    await recorder.close()
    expect(asked.filter((sql) => sql.includes("'1KiB'"))).toHaveLength(checkpoints!)
  }
  spy.mockRestore()
  store.close()
})
