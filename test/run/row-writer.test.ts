import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  Batch,
  type BatchMessage,
  batchRows,
  nullCount,
  nullWord,
} from '../../src/attempt/batch.ts'
import { attemptColumns, columnNames } from '../../src/attempt/columns.ts'
import type { PreparedRequest } from '../../src/client/call/request.ts'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { ResponseFields } from '../../src/client/row/response-fields.ts'
import { RowWriter } from '../../src/run/record/row-writer.ts'
import type { Conversation, Flight } from '../../src/run/send/flight.ts'

const phases = ['warm-up', 'steady'].map((name, ordinal) => ({
  run: { ordinal, name, part: ordinal === 0 ? 'warmup' : 'steady' },
}))
const plans = [0, 1, 2].map((index) => ({
  index,
  step: {
    name: `step-${index}`,
    endpoint: 'chat',
    model: 'svc-k2',
    wrong: index === 2 ? 'bad-key' : null,
  },
  sendsKey: index !== 2,
}))
const requests = [
  { endpoint: 'chat', streamed: false, model: 'svc-k2' },
  { endpoint: 'chat', streamed: false, model: 'svc-k2' },
  { endpoint: 'chat', streamed: true, model: 'svc-k2' },
  { endpoint: 'messages', streamed: false, model: null },
] as unknown as readonly PreparedRequest[]

const drawn = fc.record({
  /** Series are under test, so most rows are like the one before. */
  again: fc.integer({ min: 1, max: 6 }),
  how: fc.constantFrom('success', 'success', 'stream', 'timed', 'refused', 'closed', 'not_sent'),
  phase: fc.nat(1),
  plan: fc.nat(2),
  key: fc.integer({ min: -1, max: 1 }),
  retry: fc.nat(1),
  request: fc.nat(3),
  turn: fc.option(fc.nat(2), { nil: null, freq: 4 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never

function flightOf(
  { phase, plan, key, retry, request, turn }: Drawn,
  slot: number,
  examines = false,
): Flight {
  return {
    phase: phases[phase],
    plan: examines ? { ...plans[plan], examines } : plans[plan],
    key,
    retry,
    slot,
    turn: turn ?? 0,
    template: slot % 3 === 0 ? -1 : slot % 3,
    intendedUs: slot * 10.4,
    conversation: turn === null ? null : ({ id: 7 } as Conversation),
    request: requests[request]!,
  } as unknown as Flight
}

function attemptOf(how: string, slot: number): Attempt {
  const fields = new ResponseFields()
  Object.assign(fields, {
    dispatchedUs: slot * 10.5,
    sentUs: slot * 11,
    closedUs: slot * 12,
    status: 200,
  })
  if (how === 'stream') {
    Object.assign(fields, {
      events: 3,
      contentEvents: 2,
      contentReads: 2,
      doneMarks: 1,
      itlMaxUs: 1.5,
    })
    Object.assign(fields, { firstEventUs: 1, firstContentUs: 2, lastContentUs: 3 })
  } else if (how === 'timed') fields.usage.times.take(0, 12.5)
  else if (how === 'refused') {
    Object.assign(fields, {
      outcome: 'http_error',
      status: 429,
      errorShape: 'chat',
      errorCode: 'slow',
    })
  } else if (how === 'closed') Object.assign(fields, { outcome: 'broken', reason: 'closed-early' })
  return fields as unknown as Attempt
}

test('a row that waited for 250 ms is handed over with the next one, even on a busy thread', () => {
  const handed: number[] = []
  const writes = new RowWriter({ runId: 'r', shard: 0, keys: [] }, ({ rows }) => handed.push(rows))
  const each: Drawn = {
    ...{ again: 1, how: 'success', phase: 0, plan: 0, key: -1 },
    ...{ retry: 0, request: 0, turn: null },
  }
  for (const [slot, atUs] of [0, 100_000, 249_999, 250_000, 300_000, 550_000].entries()) {
    writes.writeEnded(flightOf(each, slot), attemptOf('success', slot), false, 1e6 + atUs)
  }
  expect(handed).toEqual([4, 2])
})

/** All rows, as they reach the recorder. */
function writer() {
  const rows: Record<string, unknown>[] = []
  const words: string[] = []
  const take = (message: BatchMessage) => {
    words.push(...message.newWords)
    const batch = new Batch(message.buffer)
    for (let row = 0; row < message.rows; row++) {
      rows.push(
        Object.fromEntries(columnNames.map((name) => [name, cellOf(batch, name, row, words)])),
      )
    }
    // As the recorder does, but overwritten with values that must not remain in any cell.
    new Uint8Array(message.buffer).fill(0x5a)
    writes.giveBack(message.buffer)
  }
  const keys = ['a', 'b'].map((name) => ({
    name,
    account: `account ${name}`,
    weight: 1,
    key: `sk-${name}`,
  }))
  const writes = new RowWriter({ runId: 'r', shard: 2, keys }, take)
  return {
    rows,
    flush: () => writes.flush(),
    write(each: Drawn, slot: number) {
      const flight = flightOf(each, slot)
      if (each.how === 'not_sent') writes.writeNotSent(flight, 'stopped', slot)
      else writes.writeEnded(flight, attemptOf(each.how, slot), true, slot)
    },
    writeUnjudged(each: Drawn, slot: number) {
      const open = writes.writeUnjudged(
        flightOf(each, slot, true),
        attemptOf(each.how, slot),
        true,
        slot,
      )
      return (answer: 'correct' | 'json') => writes.judge(open, answer)
    },
  }
}

function cellOf(
  batch: Batch,
  name: keyof typeof attemptColumns,
  row: number,
  words: readonly string[],
) {
  const cell = batch.columns[name][row]!
  switch (attemptColumns[name].kind) {
    case 'word':
      return cell === nullWord ? null : words[cell]
    case 'count':
      return cell === nullCount ? null : cell
    case 'text':
      return batch.columns[name][row * 2 + 1]
    default:
      return cell
  }
}

test('a row is the same whatever rows were written before it, and into any buffer', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 12 }), fc.nat(3), (found, flushEvery) => {
      const each = found.flatMap((one) => Array.from({ length: one.again }, () => one))
      const together = writer()
      const alone: Record<string, unknown>[] = []
      for (const [slot, one] of each.entries()) {
        together.write(one, slot)
        if (flushEvery > 0 && slot % (flushEvery * 5) === 4) together.flush()
        const single = writer()
        single.write(one, slot)
        single.flush()
        alone.push(...single.rows)
      }
      together.flush()
      expect(together.rows).toEqual(alone)
    }),
    { numRuns: 100 },
  )
})

test('a series of similar rows continues from one full batch to the next', () => {
  const { rows, write, flush } = writer()
  const like: Drawn = {
    again: 1,
    how: 'success',
    phase: 1,
    plan: 0,
    key: 0,
    retry: 0,
    request: 0,
    turn: null,
  }
  for (let slot = 0; slot < batchRows * 2 + 3; slot++) write(like, slot)
  flush()
  expect(rows).toHaveLength(batchRows * 2 + 3)
  const same = [
    'outcome',
    'events',
    'errorCode',
    'step',
    'phase',
    'keyFp',
    'model',
    'session',
  ] as const
  for (const name of same) expect(new Set(rows.map((row) => row[name])).size).toBe(1)
  expect(rows.map((row) => row.slot)).toEqual(rows.map((_, slot) => slot))
  expect([rows[0]!.outcome, rows.at(-1)!.step, rows.at(-1)!.phase]).toEqual([
    'ok',
    'step-0',
    'steady',
  ])
})

test('a batch waits for the verdicts on its answers, and those after it for their turn', () => {
  const { rows, write, writeUnjudged, flush } = writer()
  const like: Drawn = {
    ...{ again: 1, how: 'success', phase: 1, plan: 0, key: 0, retry: 0, request: 0, turn: null },
  }
  write(like, 0)
  const first = writeUnjudged(like, 1)
  const second = writeUnjudged(like, 2)
  flush()
  write({ ...like, plan: 1 }, 3)
  flush()
  const third = writeUnjudged(like, 4)
  flush()
  third('correct')
  second('json')
  expect(rows).toEqual([])
  first('correct')
  expect(rows.map(({ slot, step, answer }) => [slot, step, answer])).toEqual([
    [0, 'step-0', null],
    [1, 'step-0', 'correct'],
    [2, 'step-0', 'json'],
    [3, 'step-1', null],
    [4, 'step-0', 'correct'],
  ])
})
