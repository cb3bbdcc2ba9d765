import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, novemberUs } from '../report/attempts.ts'
import { inEmptyStore } from '../store/opened.ts'

/** What a query finds of these attempts, in a run that costs 3 credits a success. */
const found = (sql: string, rows: readonly AttemptRow[], timeScale = 1) =>
  inEmptyStore(async (store) => {
    await enterEndedRun(store, 'a', { timeScale })
    await store.execute(
      `INSERT INTO model_prices VALUES ('svc', 'svc-k2', 3), ('svc', 'other', 5), ('else', 'svc-k2', 9)`,
    )
    await appendAttempts(store, rows)
    return await store.rows(sql)
  })

test('an attempt was meant to begin and ended so long after the start of its run', async () => {
  const rows = [
    attempt(1, { closedUs: 1_500_000 }),
    attempt(2, { closedUs: null, outcome: 'not_sent', reason: 'budget' }),
  ]
  const since = (name: string) => `epoch_us(${name}) - ${novemberUs} AS ${name}`
  expect(
    await found(
      `SELECT ${since('intended_at')}, ${since('closed_at')} FROM attempt_times ORDER BY slot`,
      rows,
    ),
  ).toEqual([
    { intended_at: 1_000_000, closed_at: 1_500_000 },
    { intended_at: 2_000_000, closed_at: 2_000_000 },
  ])
})

test('a measure has a row where it has a value', async () => {
  const rows = [attempt(0), attempt(1, { outcome: 'http_error', status: 500 })]
  expect(
    await found(
      `SELECT slot, count(us) = count(*) AS known FROM attempt_measures WHERE measure = 'response' GROUP BY slot`,
      rows,
    ),
  ).toEqual([{ slot: 0, known: true }])
})

test('what a run used is charged at its end, on the clock of the service, and certain only for a success', async () => {
  const timedOut = { outcome: 'timeout', status: null } as const
  const rows = [
    attempt(1, { closedUs: 1_500_000 }),
    attempt(2, { ...timedOut, closedUs: null }),
    attempt(3, { outcome: 'http_error', status: 500 }),
    attempt(4, { model: null, responseModel: 'other' }),
    attempt(5, { model: 'unpriced' }),
    attempt(6, { outcome: 'not_sent', reason: 'budget' }),
    attempt(7, { sentUs: null }),
    attempt(8, { endpoint: 'models', model: null }),
  ]
  const used = await found(
    `SELECT id, at_us - ${novemberUs} AS at, credits, possible_credits AS most FROM usage ORDER BY id`,
    rows,
    2,
  )
  expect(used.map(({ at: _, ...row }) => row)).toEqual([
    { id: '1.0', credits: 3, most: 3 },
    { id: '2.0', credits: null, most: 3 },
    { id: '3.0', credits: 0, most: 0 },
    { id: '4.0', credits: 5, most: 5 },
    { id: '5.0', credits: null, most: null },
  ])
  expect(used.slice(0, 2).map(({ at }) => at)).toEqual([3_000_000, 4_000_000])
})
