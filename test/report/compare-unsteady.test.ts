import { expect, test } from 'vitest'
import { services, timesOf } from '../../bench/intervals/services.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { levelOf } from '../../src/measure/interval/level.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

const timesBy = (name: string, n: number, seed: number, slower = 1) =>
  timesOf(
    services.find((service) => service.name === name)!,
    n,
    { arrivals: seed, service: seed + 500 },
    slower,
  )

/** The second half takes so much longer. */
const stepped = (name: string, n: number, seed: number, slower: number) =>
  Float64Array.of(...timesBy(name, n / 2, seed), ...timesBy(name, n / 2, seed + 1000, slower))

test('a series of one level is seldom called unsteady, and a step or a drift nearly always', () => {
  const found = (times: (seed: number) => Float64Array) =>
    Array.from({ length: 50 }, (_, seed) => levelOf(times(seed))).filter(
      ({ change }) => change !== null,
    )
  for (const name of [
    'independent',
    '8 workers, load 0.5',
    '8 workers, load 0.7',
    '64 closed users',
  ]) {
    expect([name, found((seed) => timesBy(name, 2_000, seed)).length <= 3]).toEqual([name, true])
  }
  const steps = found((seed) => stepped('independent', 2_000, seed, 1.3))
  expect(steps.length).toBe(50)
  for (const { change } of steps) {
    expect(change!.at).toBeGreaterThan(800)
    expect(change!.at).toBeLessThan(1_200)
    // The ratio of two medians of a thousand has a standard error of 0.036.
    expect(Math.abs(change!.ratio - 1.3)).toBeLessThan(0.15)
  }
  expect(found((seed) => timesBy('drift of 30 %', 2_000, seed)).length).toBeGreaterThan(45)
  expect(levelOf(timesBy('independent', 299, 1)).chance).toBeNull()
  expect(levelOf(new Float64Array(2_000).fill(7)).change).toBeNull()
})

test('a run that changes its level passes and fails no gate on times, and says when it changed', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  for (const [runId, times] of [
    ['level', timesBy('independent', 2_000, 1)],
    ['stepped', stepped('independent', 2_000, 2, 1.6)],
  ] as const) {
    await enterRun(store, runId)
    const rows = Array.from(times, (time, slot) => {
      const intendedUs = slot * 100_000
      const closedUs = intendedUs + Math.round(time * 10_000)
      const sent = { intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs }
      return attempt(slot, { runId, ...sent, doneUs: closedUs, closedUs })
    })
    await appendAttempts(store, rows)
  }
  const of = (a: string, b: string) =>
    compareRuns({ store, runId: a }, { store, runId: b }, defaultContract)
  const comparison = await of('level', 'stepped')
  expect(comparison.unsteady.a).toBeNull()
  // A hundred seconds after the start, 60 % slower.
  expect(comparison.unsteady.b).toMatch(
    /^chat response (5[5-9]|6[0-5]) % slower from \d\d:\d\d:\d\d UTC$/,
  )
  expect(comparison.warnings.join()).toContain('run b is not of one level: chat response')
  for (const text of ['service.p95 > +10%', 'service.p50 > +300%']) {
    expect(judgeGate(comparison, parseGate(text))).toMatchObject({
      result: 'inconclusive',
      summary: expect.stringContaining('not of one level'),
    })
  }
  expect(judgeGate(comparison, parseGate('errors > +1%')).result).toBe('passed')
  const same = await of('level', 'level')
  expect(same.unsteady).toEqual({ a: null, b: null })
  expect(judgeGate(same, parseGate('service.p50 > +30%')).result).toBe('passed')
  store.close()
})
