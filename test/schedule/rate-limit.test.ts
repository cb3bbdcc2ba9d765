import { expect, test } from 'vitest'
import { searchOnce } from '../../bench/safe-rate.ts'
import { randomOf, simulatedServers } from '../../bench/simulated-servers.ts'
import type { Search } from '../../src/scenario/loads.ts'
import { limitOf, limitWaitUs } from '../../src/schedule/safe-rate/limit.ts'
import type { Trial } from '../../src/schedule/safe-rate/trial.ts'

const search: Search = {
  ...{ startPerS: null, maxPerS: 1000, goodput: 0.95, boundUs: 1e6, precision: null },
  ...{ hold: null, headroom: 1, trialUs: null, coolDownUs: null, budget: 'quick', mostUs: 280e6 },
}

const searched = (name: string, seed: number, change: Partial<Search> = {}) => {
  const random = randomOf(`limit ${name} ${seed}`)
  return searchOnce(simulatedServers[name]!.make(random), random, { ...search, ...change })
}
const seeds = Array.from({ length: 30 }, (_, seed) => seed)

test('a search that meets a limit of 600 a minute waits for its reset, and ends with a rate below it', () => {
  for (const seed of seeds) {
    const { kind, safePerS, seconds } = searched('minutes', seed)
    expect(kind, `seed ${seed}`).toBe('held')
    expect(safePerS).toBeGreaterThan(5)
    expect(safePerS).toBeLessThan(10)
    expect(seconds).toBeLessThanOrEqual(280)
  }
})

test('a search that meets a limit of 60 a minute has a rate below it or a limit that decides, within its time', () => {
  const found = seeds.map((seed) => searched('minute', seed))
  for (const { kind, safePerS, seconds, trials } of found) {
    expect(seconds).toBeLessThanOrEqual(280)
    const limit = limitOf(trials)
    expect(limit!.perS).toBeGreaterThan(0.8)
    expect(limit!.perS).toBeLessThan(1.1)
    if (kind === 'held') expect(safePerS).toBeLessThan(1)
    else expect(kind).toBe('bracket')
  }
  expect(found.filter(({ kind }) => kind === 'held').length).toBeGreaterThan(20)
})

test('with time for a whole confirmation, each search below a limit ends with a rate', () => {
  for (const seed of seeds.slice(0, 10)) {
    const { kind, safePerS } = searched('minute', seed, { mostUs: 3600e6 })
    expect(kind, `seed ${seed}`).toBe('held')
    expect(safePerS).toBeLessThan(1)
    expect(safePerS).toBeGreaterThan(0.5)
  }
})

const trial = (change: Partial<Trial>): Trial => ({
  ...{ phase: 'search 1', step: 'bracket', budget: 'quick', ratePerS: 10, sentPerS: 10 },
  ...{ planned: 60, sent: 60, notSent: 0, late: 0, judged: 60, missed: 0, limited: 0 },
  ...{ goodput: 1, result: 'held', why: 'held', mostMissed: null, drift: null, meanUs: 1e5 },
  ...{ lastedUs: 6e6, tookUs: 6e6, resetUs: null, earlier: false },
  ...change,
})
const refused = (change: Partial<Trial> = {}) =>
  trial({ missed: 4, limited: 4, result: 'failed', why: 'misses', resetUs: 40e6, ...change })

test('the limit is what was admitted in the window that ends at its reset', () => {
  // 14 s of the minute: 56 admitted in 6 s, 60 in 6 s, and of those of a trial of 20 s only two seconds.
  const trials = [trial({ lastedUs: 20e6, tookUs: 20e6 }), trial({}), refused({ resetUs: 46e6 })]
  expect(limitOf(trials)!.perS).toBeCloseTo((6 + 60 + 56) / 60)
  expect(limitOf([trial({}), refused({ resetUs: 200e6 })])!.perS).toBeCloseTo(116 / 300)
  // Nearly all windows of the steady rate have at most as many.
  const { perS, steadyPerS } = limitOf([refused({ sent: 104 })])!
  expect(steadyPerS / perS).toBeCloseTo(1 - 2 / Math.sqrt(100))
})

test('without a long wait there is no limit of a window', () => {
  expect(limitOf([trial({}), refused({ resetUs: 2e6 })])).toBe(null)
  expect(limitOf([refused({ resetUs: null })])).toBe(null)
  expect(limitOf([refused({ missed: 40 })])).toBe(null)
})

test('a search waits for the reset and a second more, and a minute if all is refused without a time', () => {
  expect(limitWaitUs(refused())).toBe(41e6)
  expect(limitWaitUs(refused({ resetUs: 3e6 }))).toBe(4e6)
  expect(limitWaitUs(refused({ resetUs: 0 }))).toBe(0)
  expect(limitWaitUs(trial({ missed: 4 }))).toBe(0)
  const none = { sent: 10, judged: 10, missed: 10, limited: 10, resetUs: null }
  expect(limitWaitUs(refused(none))).toBe(61e6)
  expect(limitWaitUs(refused({ ...none, sent: 11 }))).toBe(0)
})
