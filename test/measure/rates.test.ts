import { expect, test } from 'vitest'
import { bySecondSql, completedIn, steadySql } from '../../src/measure/rates.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { inEmptyStore, type Store } from '../store/opened.ts'

const ms = 1000
/** Six arrivals, one a second; each ends after 200 ms, but the last one after 5 s. */
const arrivals = [0, 1, 2, 3, 4, 5].map((slot) => ({
  ...attempt(slot),
  closedUs: slot * 1e6 + (slot === 5 ? 5000 * ms : 200 * ms),
}))

const over = <T>(rows: typeof arrivals, work: (store: Store) => Promise<T>) =>
  inEmptyStore(async (store) => {
    await enterEndedRun(store)
    await appendAttempts(store, rows)
    return await work(store)
  })

const steady = (rows: typeof arrivals, offsetUs = '0') =>
  over(rows, (store) =>
    store.rows(`FROM ${steadySql({ from: 'attempt_values', offsetUs, bySteps: false })}`),
  )

test('six arrivals a second apart are six in six seconds, and answers count by the median time later', async () => {
  const [from_us, until_us] = [-300 * ms, 5700 * ms]
  expect(await steady(arrivals)).toEqual([{ step: null, seconds: 6, from_us, until_us }])
  expect(await steady(arrivals, '1000000')).toEqual([
    { step: null, seconds: 6, from_us: 700 * ms, until_us: 6700 * ms },
  ])
})

test('a retry is no arrival, and what was not sent has no time of an answer', async () => {
  const again = { ...arrivals[2]!, retry: 1 }
  const unsent = [0, 1, 2, 3].map((at) => ({
    ...attempt(20 + at),
    ...({ intendedUs: 0, closedUs: 9e6, outcome: 'not_sent', retry: 1 + at } as const),
  }))
  expect(await steady([...arrivals, again, ...unsent])).toEqual(await steady(arrivals))
})

test('one arrival has no rate', async () => {
  expect(await steady(arrivals.slice(0, 1))).toMatchObject([{ seconds: null }])
})

test('each step has its own rate if that is asked', async () => {
  const rows = arrivals.map((row) => ({ ...row, step: row.slot < 2 ? 'a' : 'b' }))
  const found = await over(rows, (store) =>
    store.rows(
      `SELECT step, seconds FROM ${steadySql({ from: 'attempt_values', offsetUs: '0', bySteps: true })} ORDER BY step`,
    ),
  )
  expect(found).toEqual([
    { step: 'a', seconds: 2 },
    { step: 'b', seconds: 4 },
  ])
})

test('a completion counts from the begin of the steady time to before its end', async () => {
  const isIn = (closedUs: number, offsetUs?: string) =>
    over([], (store) =>
      store.rows(
        `SELECT ${completedIn('s', offsetUs)} AS is FROM (SELECT ${closedUs} AS closed_us, 10 AS from_us, 20 AS until_us) AS s`,
      ),
    )
  expect([await isIn(9), await isIn(10), await isIn(19), await isIn(20)].flat()).toEqual(
    [false, true, true, false].map((is) => ({ is })),
  )
  expect([await isIn(7, '2'), await isIn(8, '2'), await isIn(18, '2')].flat()).toEqual(
    [false, true, false].map((is) => ({ is })),
  )
})

test('each whole second of the steady part has its sums, also one without a completion', async () => {
  const rows = arrivals.filter(({ slot }) => slot !== 3)
  const sums = { requests: 'count(run_id)', tokens: 'sum(completion_tokens)' }
  const found = await over(rows, (store) => store.rows(bySecondSql('attempt_values', sums)))
  const [one, none] = [
    { requests: 1, tokens: 20 },
    { requests: 0, tokens: 0 },
  ]
  // Five arrivals in five seconds: a gap of 1.25 s, so the time begins 0.625 s before the first answer.
  expect(found).toEqual([one, one, one, none, one, none])
})
