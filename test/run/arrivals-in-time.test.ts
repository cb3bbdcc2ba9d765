import { expect, test } from 'vitest'
import { arrivalsInTime } from '../../src/run/plan/arrivals-in-time.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

/** A hundred requests per second for ten seconds from 0.5 s on, each this late. */
async function achieved(lateUs: (at: number) => number | null) {
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  const rows = Array.from({ length: 1000 }, (_, at) => {
    const intendedUs = 500_000 + at * 10_000
    const late = lateUs(at)
    return attempt({
      slot: at,
      intendedUs,
      dispatchedUs: late === null ? null : intendedUs + late,
      outcome: late === null ? 'not_sent' : 'ok',
    })
  })
  await appendAttempts(store, rows)
  const found = await arrivalsInTime(store, 'r', { name: 'steady', startUs: 500_000 })
  store.close()
  expect(found.planned).toBe(1000)
  return found.inTime / found.planned
}

test('a request within the lag bound counts for the achieved rate', async () => {
  expect(await achieved(() => 0)).toBe(1)
  // The lag bound: no request is discounted for it at the end of a second.
  expect(await achieved(() => 4_999)).toBe(1)
})

test('lateness is not made up: constantly half a second late is half the rate', async () => {
  expect(await achieved(() => 505_000)).toBe(0.5)
  expect(await achieved(() => 2e6)).toBe(0)
  // Every request was sent before the phase ended, but none in one of its seconds.
  expect(await achieved((at) => (at >= 300 && at < 400 ? 1.2e6 : 0))).toBe(0.9)
})

test('a request that was not sent does not count for the achieved rate', async () => {
  expect(await achieved((at) => (at % 10 === 0 ? null : 0))).toBe(0.9)
})
