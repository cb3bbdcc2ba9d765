import { expect, test } from 'vitest'
import { emptyLedger } from '../../src/run/ledger.ts'
import { judge, type RunFacts } from '../../src/run/verdict.ts'

const ledger = { ...emptyLedger, planned: 1000, sent: 1000, ok: 1000 }
const sound: RunFacts = {
  ledger,
  rows: ledger,
  handedOver: 1000,
  recorded: 1000,
  lag: { p50Us: 500, p90Us: 900, p99Us: 1200, samples: 1000 },
  medianResponseUs: 80_000,
  plannedArrivals: 1000,
  arrivedInTime: 1000,
  budgetSpent: false,
  threads: [{ shard: 0, loopDelayP99Us: 1000, utilisation: 0.2 }],
  pacing: 'timer',
  deepestQueue: 1,
  meanInFlight: 10,
  lambdaW: 10.1,
  fewestSamples: 1000,
  ceilingShare: 0.1,
}

const testOf = (facts: RunFacts, name: string) =>
  judge(facts).tests.find((each) => each.name === name)!

test('a sound run is valid, and every test shows its figure', () => {
  const { verdict, tests, says } = judge(sound)
  expect(verdict).toBe('valid')
  expect(says).toBe('')
  expect(tests.every((each) => each.result === 'held' && each.figure !== '')).toBe(true)
})

test.each([
  ['lag p99', { lag: { p50Us: 1, p90Us: 1, p99Us: 5000, samples: 662 } }, 'failed'],
  ['achieved / planned rate', { arrivedInTime: 980 }, 'failed'],
  [
    'event-loop delay p99',
    { threads: [{ shard: 0, loopDelayP99Us: 20_000, utilisation: 0.1 }] },
    'degraded',
  ],
  [
    'event-loop utilisation',
    { threads: [{ shard: 0, loopDelayP99Us: 1, utilisation: 0.8 }] },
    'degraded',
  ],
  ["Little's law", { lambdaW: 9.4 }, 'failed'],
  ['share of calibrated ceiling', { ceilingShare: 0.7 }, 'degraded'],
  ['recorder', { recorded: 999 }, 'failed'],
  ['recorder', { deepestQueue: 65 }, 'degraded'],
  ['ledgers', { rows: { ...ledger, ok: 999, sent: 999 } }, 'failed'],
] as const)('%s is judged by its bound, with a remedy', (name, change, result) => {
  const found = testOf({ ...sound, ...change }, name)
  expect(found.result).toBe(result)
  expect(found.remedy).not.toBe('')
  expect(judge({ ...sound, ...change }).verdict).toBe(result === 'failed' ? 'invalid' : 'degraded')
})

test('up to one in a hundred not sent degrades a run, more makes it invalid', () => {
  const missing = (notSent: number) => {
    const short = {
      ...emptyLedger,
      planned: 1000,
      sent: 1000 - notSent,
      ok: 1000 - notSent,
      notSent,
    }
    return judge({ ...sound, ledger: short, rows: short }).verdict
  }
  expect([0, 10, 11].map(missing)).toEqual(['valid', 'degraded', 'invalid'])
})

test('slow answers allow more lag: one percent of their median', () => {
  const lag = { p50Us: 1, p90Us: 1, p99Us: 9000, samples: 1000 }
  expect(testOf({ ...sound, medianResponseUs: 1e6, lag }, 'lag p99').result).toBe('held')
  expect(testOf({ ...sound, medianResponseUs: 5e5, lag }, 'lag p99').result).toBe('failed')
})

test('lag is judged by the highest percentile that its samples can carry, and says which', () => {
  const lag = { p50Us: 600, p90Us: 6000, p99Us: 90_000 }
  const judged = (samples: number) =>
    judge({ ...sound, lag: { ...lag, samples } }).tests.find((each) => each.name.startsWith('lag'))!
  expect(judged(662)).toMatchObject({ name: 'lag p99', result: 'failed' })
  expect(judged(661)).toMatchObject({ name: 'lag p90', result: 'failed' })
  expect(judged(63)).toMatchObject({ name: 'lag p50', result: 'held' })
  expect(judged(63).figure).toBe('0.60 ms; 63 requests are too few for a p99')
})

test('a run that is invalid for latency still says that its rows can be judged', () => {
  expect(
    judge({ ...sound, lag: { p50Us: 1e6, p90Us: 1e6, p99Us: 1e6, samples: 1000 } }).says,
  ).toContain('billing and rate limits can be judged')
  expect(judge({ ...sound, recorded: 1 }).says).toContain('nothing can be judged')
})

test('what was not measured is not judged, and is no reason to call a run valid or not', () => {
  const blind = {
    ...sound,
    lag: null,
    plannedArrivals: 0,
    meanInFlight: null,
    fewestSamples: null,
    ceilingShare: null,
  }
  const { verdict, tests } = judge(blind)
  expect(verdict).toBe('valid')
  expect(tests.filter((each) => each.result === 'not judged').length).toBe(5)
})

test('a ledger that does not add up is told with its numbers', () => {
  const odd = { ...ledger, ok: 900 }
  expect(testOf({ ...sound, ledger: odd, rows: odd }, 'ledgers').figure).toBe(
    'sent 1000 is not ok 900 + http_error 0 + broken 0 + timeout 0 + aborted 0',
  )
})

test('where a budget kept requests back, the remedy is a larger one', () => {
  const spent = {
    ...sound,
    ledger: { ...ledger, sent: 400, ok: 400, notSent: 600 },
    rows: { ...ledger, sent: 400, ok: 400, notSent: 600 },
    arrivedInTime: 400,
    budgetSpent: true,
  }
  for (const name of ['achieved / planned rate', 'not sent']) {
    expect(testOf(spent, name)).toMatchObject({
      result: 'failed',
      remedy:
        'max_credits was spent before the plan was sent: raise it, or plan no more than it pays for.',
    })
  }
})
