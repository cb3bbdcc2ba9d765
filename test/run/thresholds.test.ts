import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { checkThreshold, compare } from '../../src/run/thresholds/check.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/recorder.ts'
import { startRun } from '../../src/store/runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

/** One success per second, a hundred in all, each answered after 10 ms more than the one before. */
const successes = Array.from({ length: 100 }, (_, at): AttemptRow => {
  const intendedUs = at * 1e6
  const doneUs = intendedUs + 1000 + (at + 1) * 10_000
  return attempt({
    slot: at,
    phase: 'main',
    streamed: 1,
    intendedUs,
    dispatchedUs: intendedUs,
    sentUs: intendedUs + 1000,
    firstContentUs: intendedUs + 2000,
    lastContentUs: doneUs,
    doneUs,
    closedUs: doneUs,
    completionTokens: 11,
  })
})

const failure = (slot: number, change: Partial<AttemptRow>): AttemptRow => ({
  ...successes[0]!,
  slot,
  outcome: 'http_error',
  status: 429,
  errorCode: 'rate_limit_exceeded',
  firstContentUs: null,
  lastContentUs: null,
  completionTokens: null,
  ...change,
})

async function check(text: string, rows: readonly AttemptRow[], ttftUs = 1000) {
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  await appendAttempts(store, rows)
  const threshold = parseThreshold(text)
  if (typeof threshold === 'string') throw new Error(threshold)
  const result = await checkThreshold(store, threshold, {
    runId: 'r',
    contract: defaultContract,
    objectives: { ttftUs, tpotUs: null, serviceUs: null, responseUs: null },
  })
  store.close()
  return result
}

test('percentiles are exact, by linear interpolation', async () => {
  // Service times are 10, 20 … 1000 ms: the 95th percentile is 950.5.
  const result = await check('chat.service.p95 < 880ms', successes)
  expect(result).toMatchObject({ result: 'missed', value: 950_500, samples: 100, unit: 'us' })
  expect(await check('chat.response.max <= 1001ms', successes)).toMatchObject({ result: 'held' })
})

test('a percentile is decided by the interval of its order statistics, or needs more samples', async () => {
  const many = successes.concat(successes.map((row) => ({ ...row, slot: row.slot + 100 })))
  // Of 200 samples, the 95th percentile is between the 184th and the 197th: 920 and 990 ms.
  const p95 = (bound: string) => check(`chat.service.p95 < ${bound}`, many)
  expect(await p95('991ms')).toMatchObject({ result: 'held', interval: [920_000, 990_000] })
  expect(await p95('920ms')).toMatchObject({ result: 'missed', needs: null })
  // 98 % are within 980 ms: 3 points from 95 %, which takes 1.96² x 0.95 x 0.05 / 0.03² samples.
  expect(await p95('980ms')).toMatchObject({
    result: 'inconclusive',
    value: expect.closeTo(950_500, 3),
    needs: 203,
  })
  expect(await p95('950ms')).toMatchObject({ result: 'inconclusive', needs: null })
  // All 100 are within the bound, and a p95 needs 130 samples wherever it is shown.
  expect(await check('chat.service.p95 < 2s', successes)).toMatchObject({
    result: 'inconclusive',
    needs: 130,
  })
  expect(await check('chat.service.p95 > 2s', successes)).toMatchObject({ result: 'missed' })
})

test('without samples a threshold is inconclusive, not passed', async () => {
  const warm = successes.map((row): AttemptRow => ({ ...row, part: 'warmup' }))
  for (const rows of [[], warm]) {
    for (const text of ['chat.ttft.p95 < 800ms', 'errors < 1%', 'goodput > 0.5', 'requests > 0']) {
      expect(await check(text, rows)).toMatchObject({ result: 'inconclusive', value: null })
    }
  }
  // A named phase counts, whatever its part.
  expect(await check('main/chat.ttft.p90 < 800ms', warm)).toMatchObject({ result: 'held' })
})

test('a count whose filter selects no row is 0, and an amount that no row has is not', async () => {
  for (const text of ['errors{code=429}.count == 0', 'requests{outcome=timeout} < 1']) {
    expect(await check(text, successes)).toMatchObject({
      result: 'held',
      value: 0,
      interval: [0, 0],
      samples: 100,
    })
  }
  expect(await check('errors{code=429}.rate < 1/s', successes)).toMatchObject({
    result: 'held',
    value: 0,
  })
  expect(await check('errors{code=429}.count > 0', successes)).toMatchObject({ result: 'missed' })
  // Without any row, or any of the named model, there is no data, which is not zero.
  const unknown = { result: 'inconclusive', value: null }
  expect(await check('errors{code=429}.count == 0', [])).toMatchObject(unknown)
  expect(await check('errors{model=another,code=429}.count == 0', successes)).toMatchObject(unknown)
  expect(await check('tokens{outcome=timeout} == 0', successes)).toMatchObject(unknown)
  expect(await check('credits{outcome=timeout} == 0', successes)).toMatchObject(unknown)
})

test('streams that hang until their timeout are in TTFT, and a held bound counts them', async () => {
  const stream = (slot: number, hangs: boolean) =>
    hangs
      ? failure(slot, {
          outcome: 'timeout',
          status: null,
          doneUs: null,
          closedUs: slot * 1e6 + 2e6,
        })
      : { ...successes[0]!, slot }
  const rows = Array.from({ length: 200 }, (_, slot) => stream(slot, slot % 5 === 0))
  const timeouts = rows.map((row) => ({ ...row, intendedUs: row.slot * 1e6, dispatchedUs: null }))
  const hung = timeouts.map((row) =>
    row.outcome === 'timeout' ? { ...row, sentUs: row.slot * 1e6 } : { ...row, intendedUs: 0 },
  )
  expect(await check('ttft.p95 < 800ms', hung)).toMatchObject({
    result: 'missed',
    value: 2e6,
    samples: 200,
  })
  // It is unknown how long they would have hung: above the deadline, a bound is undecided.
  expect(await check('ttft.p95 < 3s', hung)).toMatchObject({
    result: 'inconclusive',
    interval: [2e6, null],
    needs: null,
  })
  expect(await check('ttft.max < 3s', hung)).toMatchObject({ result: 'inconclusive' })
  expect(await check('ttft.p50 < 800ms', hung)).toMatchObject({ result: 'held' })
})

test('failed streams have no tokens, and unreported tokens are not counted as zero', async () => {
  const broken = successes.slice(0, 60).map((row) => ({ ...row, outcome: 'broken' as const }))
  expect(await check('tokens.rate > 1/s', broken)).toMatchObject({
    result: 'inconclusive',
    value: null,
  })
  const half = successes.map((row, at) => (at < 50 ? row : { ...row, completionTokens: null }))
  expect(await check('tokens > 500', half)).toMatchObject({ result: 'held', value: 550 })
  expect(await check('tokens < 600', half)).toMatchObject({ result: 'inconclusive', value: 550 })
})

test('a stream without text is never good, for any objectives', async () => {
  const rows = successes.map((row, at) =>
    at < 80 ? row : { ...row, events: 3, firstContentUs: null, lastContentUs: null },
  )
  expect(await check('goodput > 79%', rows)).toMatchObject({ value: 0.8, result: 'held' })
})

test('a timeout counts as at least its deadline, and a fast refusal never as a fast answer', async () => {
  const timeout = failure(200, { outcome: 'timeout', status: null, closedUs: 60e6, doneUs: null })
  const fast = failure(201, { closedUs: 2, doneUs: 2 })
  const rows = [...successes, timeout, fast]
  expect(await check('chat.response.max < 10s', rows)).toMatchObject({ value: 60e6, samples: 101 })
  expect(await check('chat.service.min > 5ms', rows)).toMatchObject({ result: 'held' })
})

test('an error share is of all sent requests, or of those that a filter selects', async () => {
  const rows = [
    ...successes.slice(0, 90),
    ...[0, 1, 2].map((at) => failure(300 + at, {})),
    ...[0, 1, 2, 3, 4].map((at) => failure(400 + at, { status: 500, errorCode: null })),
    // Wrong on purpose: an expected error.
    ...[0, 1].map((at) =>
      failure(500 + at, { expects: 'unknown-model', status: 404, errorCode: null }),
    ),
  ]
  expect(await check('errors < 8%', rows)).toMatchObject({ value: 0.08, result: 'missed' })
  expect(await check('errors{code=429} <= 3%', rows)).toMatchObject({ value: 0.03, result: 'held' })
  expect(await check('errors{code=rate_limit_exceeded}.count == 3', rows)).toMatchObject({
    result: 'held',
  })
  expect(await check('errors{status=404}.count == 2', rows)).toMatchObject({ result: 'held' })
  expect(await check('success > 91%', rows)).toMatchObject({ result: 'held' })
})

test('a filter by account or model selects the denominator of a share', async () => {
  const of = (account: string) => (row: AttemptRow) => ({ ...row, account })
  const rows = [
    ...successes.slice(0, 6).map(of('a')),
    ...[0, 1].map((at) => failure(300 + at, { account: 'a' })),
    failure(302, { account: 'a', status: 400, expects: 'invalid-parameter' }),
    ...successes.slice(10, 100).map(of('b')),
  ]
  expect((await check('success{account=a} > 0', rows)).value).toBe(0.75)
  expect((await check('success{account=b} > 0', rows)).value).toBe(1)
  expect((await check('goodput{account=a} > 0', rows)).value).toBe(0.75)
  expect((await check('errors{account=a} > 0', rows)).value).toBeCloseTo(2 / 9, 9)
  expect((await check('errors{code=429, account=a} > 0', rows)).value).toBeCloseTo(2 / 9, 9)
  expect((await check('requests{account=a}.count > 0', rows)).value).toBe(9)
  expect(await check('success{model=none} > 0', rows)).toMatchObject({ result: 'inconclusive' })
})

test('goodput is the share of successes and failures that meet every objective', async () => {
  // Every TTFT is 1 ms, so half are good when the other half failed.
  const rows = [...successes.slice(0, 5), ...[0, 1, 2, 3, 4].map((at) => failure(300 + at, {}))]
  expect(await check('goodput >= 50%', rows)).toMatchObject({ value: 0.5, result: 'held' })
  expect(await check('goodput >= 50%', rows, 999)).toMatchObject({ value: 0, result: 'missed' })
})

test('counts, rates and credits are of sent requests', async () => {
  const rows = [...successes, failure(300, { outcome: 'not_sent', dispatchedUs: null })]
  expect(await check('requests.count == 100', rows)).toMatchObject({ result: 'held' })
  expect(await check('credits == 100', rows)).toMatchObject({ result: 'held' })
  expect(await check('tokens == 1100', rows)).toMatchObject({ result: 'held' })
  expect(await check('not_sent.count == 1', rows)).toMatchObject({ result: 'held' })
  expect((await check('requests.rate > 0.9/s', rows)).value).toBeCloseTo(1, 1)
})

test('each comparison operator compares', () => {
  const table = (['<', '<=', '>', '>=', '=='] as const).map((operator) =>
    [1, 2, 3].map((value) => compare(value, operator, 2)),
  )
  expect(table).toEqual([
    [true, false, false],
    [true, true, false],
    [false, false, true],
    [false, true, true],
    [false, true, false],
  ])
})
