import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bracketOf, nextTrial, type Trial } from '../../src/schedule/sweep.ts'

const sweep = {
  kind: 'sweep',
  startPerS: 10,
  maxPerS: 100_000,
  trialUs: 1e6,
  coolDownUs: 5e5,
  precision: 0.05,
  spacing: { kind: 'poisson' },
  objective: { goodput: 0.99 },
} as const

function run(capacityPerS: number) {
  const trials: Trial[] = []
  for (;;) {
    const step = nextTrial(sweep, trials)
    if (step.kind === 'done') return { ...step, trials }
    trials.push({ ratePerS: step.ratePerS, held: step.ratePerS <= capacityPerS })
  }
}

test('any capacity is found within the precision, by doubling and then halving', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 90_000, noNaN: true }), (capacity) => {
      const { safePerS, failedPerS, trials } = run(capacity)
      expect(safePerS).toBeLessThanOrEqual(capacity)
      expect(failedPerS).toBeGreaterThan(capacity)
      expect((failedPerS! - safePerS!) / failedPerS!).toBeLessThanOrEqual(0.05)
      expect(trials.length).toBeLessThan(50)
    }),
  )
})

test('a capacity above the highest rate gives that rate, and no rate counts as failed', () => {
  expect(run(1e9)).toMatchObject({ safePerS: 100_000, failedPerS: null })
})

test('a service that holds no rate has no safe rate', () => {
  expect(run(0)).toMatchObject({ safePerS: null })
})

test('a pause follows only a failed trial', () => {
  expect(nextTrial(sweep, [{ ratePerS: 10, held: true }])).toMatchObject({ coolDown: false })
  const failed = { ratePerS: 10, held: false }
  expect(nextTrial(sweep, [failed, failed])).toMatchObject({ ratePerS: 5, coolDown: true })
})

test('a failure is retried, and counts only if it is repeated', () => {
  const failed = { ratePerS: 10, held: false }
  expect(nextTrial(sweep, [failed])).toMatchObject({ ratePerS: 10, coolDown: true })
  expect(nextTrial(sweep, [failed, { ratePerS: 10, held: true }])).toMatchObject({ ratePerS: 20 })
})

test('a sweep that is cut short keeps the results of its trials', () => {
  const trials = [10, 20, 40, 40].map((ratePerS, at) => ({ ratePerS, held: at < 2 }))
  expect(bracketOf(trials)).toEqual({ safePerS: 20, failedPerS: 40 })
  expect(bracketOf(trials.slice(0, 2))).toEqual({ safePerS: 20, failedPerS: null })
  expect(bracketOf([])).toEqual({ safePerS: null, failedPerS: null })
})
