import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import { compare } from '../../src/run/judge/thresholds/compare.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

/** One success per second, a hundred in all, answered after 10, 20 … 1000 ms in an order without a pattern. */
const successes = Array.from({ length: 100 }, (_, at): AttemptRow => {
  const intendedUs = at * 1e6
  const doneUs = intendedUs + 1000 + ((at + 1) ** 7 % 101) * 10_000
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

/** The same times at other planned sends, and stored in another order. */
const inOrder = (times: readonly number[]) =>
  times
    .map((ms, slot): AttemptRow => {
      const intendedUs = slot * 1e6
      const sentUs = intendedUs + 1000
      const doneUs = sentUs + ms * 1000
      const sent = { intendedUs, dispatchedUs: intendedUs, sentUs, doneUs, closedUs: doneUs }
      return {
        ...successes[0]!,
        ...sent,
        slot,
        firstContentUs: sentUs + 1000,
        lastContentUs: doneUs,
      }
    })
    .toSorted((one, other) => ((one.slot * 7919) % 10_007) - ((other.slot * 7919) % 10_007))

/** 10, 20 … 1000 ms, six times, without a pattern. */
const mixed = Array.from({ length: 600 }, (_, at) => 10 * ((at + 1) ** 7 % 101 || 50))

test('a percentile is decided by an interval of its true value', { tags: 'whole' }, async () => {
  const p95 = (bound: string) => check(`chat.service.p95 < ${bound}`, inOrder(mixed))
  const held = await p95('999ms')
  expect(held).toMatchObject({ result: 'held', needs: null, samples: 600 })
  const [low, high] = held.interval as [number, number]
  // The share below has a standard error of 0.9 points, or a little more.
  expect(low).toBeGreaterThanOrEqual(920_000)
  expect(low).toBeLessThanOrEqual(940_000)
  expect(high).toBeGreaterThanOrEqual(970_000)
  expect(await p95(`${low / 1000 - 1}ms`)).toMatchObject({ result: 'missed', needs: null })
  const open = await p95('961ms')
  expect(open).toMatchObject({ result: 'inconclusive', worth: held.worth })
  expect(open.needs).toBeGreaterThan(700)
  expect(await check('chat.service.p95 > 2s', inOrder(mixed))).toMatchObject({ result: 'missed' })
})

test('requests that wait together are worth few, whatever the order of the rows', {
  tags: 'whole',
}, async () => {
  // The same times in six busy stretches: what one request met, its neighbours met too.
  const stretches = mixed.map(
    (_, at) => mixed.toSorted((a, b) => a - b)[((at * 6) % 600) + ((at / 100) | 0)]!,
  )
  expect(stretches.toSorted((a, b) => a - b)).toEqual(mixed.toSorted((a, b) => a - b))
  const alone = await check('chat.service.p95 < 999ms', inOrder(mixed))
  const together = await check('chat.service.p95 < 999ms', inOrder(stretches))
  expect(alone).toMatchObject({ result: 'held' })
  expect(together).toMatchObject({ result: 'inconclusive', value: alone.value, samples: 600 })
  expect(together.interval[1]).toBeNull()
  expect(together.worth).toBeLessThan(60)
  expect(together.needs).toBeGreaterThan(1000)
})

test('a limit that no request came near holds with few samples', { tags: 'whole' }, async () => {
  // At most 1 s. Of 59 requests, a p95 beyond the limit would have shown itself in 95 of 100 runs.
  const times = inOrder(mixed)
  const of = (n: number) => times.filter(({ slot }) => slot < n)
  for (const [text, enough] of [
    ['p50 < 2001ms', 11],
    ['p90 < 2001ms', 29],
    ['p95 < 2001ms', 59],
    ['p99 < 2001ms', 299],
    ['mean < 2001ms', 11],
  ] as const) {
    expect(await check(`chat.service.${text}`, of(enough))).toMatchObject({ result: 'held' })
    expect(await check(`chat.service.${text}`, of(enough - 1))).toMatchObject({
      result: 'inconclusive',
    })
  }
  expect(await check('chat.service.p95 < 1999ms', of(100))).toMatchObject({
    result: 'inconclusive',
    needs: 156,
  })
  // Neighbours that wait together count, too: at a limit that is far, they need not be independent.
  expect(await check('chat.service.p50 < 1ms', of(11))).toMatchObject({ result: 'missed' })
  expect(await check('chat.service.p95 > 2001ms', of(59))).toMatchObject({ result: 'missed' })
  const rising = inOrder(mixed.toSorted((a, b) => a - b).slice(0, 59))
  expect(await check('chat.service.p95 < 2001ms', rising)).toMatchObject({ result: 'held' })
})

test('a mean has an interval, and the least and the largest value are facts', {
  tags: 'whole',
}, async () => {
  const rows = inOrder(mixed)
  expect(await check('chat.service.mean < 600ms', rows)).toMatchObject({ result: 'held' })
  expect(await check('chat.service.mean < 510ms', rows)).toMatchObject({
    result: 'inconclusive',
    needs: 10_926,
  })
  expect(await check('chat.service.mean < 400ms', rows)).toMatchObject({ result: 'missed' })
  expect(await check('chat.service.max < 1001ms', rows)).toMatchObject({
    result: 'held',
    worth: null,
  })
  expect(await check('chat.service.mean < 2s', rows.slice(0, 5))).toMatchObject({
    result: 'inconclusive',
  })
})

test('without samples a threshold is inconclusive, not passed', { tags: 'whole' }, async () => {
  const warm = successes.map((row): AttemptRow => ({ ...row, part: 'warmup' }))
  for (const rows of [[], warm]) {
    for (const text of ['chat.ttft.p95 < 800ms', 'errors < 1%', 'goodput > 0.5', 'requests > 0']) {
      expect(await check(text, rows)).toMatchObject({ result: 'inconclusive', value: null })
    }
  }
  // A named phase counts, whatever its part.
  expect(await check('main/chat.ttft.p90 < 800ms', warm)).toMatchObject({ result: 'held' })
})

test('a count whose filter selects no row is 0, and an amount that no row has is not', {
  tags: 'whole',
}, async () => {
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

test('streams that hang until their timeout are in TTFT, and a held bound counts them', {
  tags: 'whole',
}, async () => {
  const stream = (slot: number, hangs: boolean) =>
    hangs
      ? failure(slot, {
          outcome: 'timeout',
          status: null,
          doneUs: null,
          closedUs: slot * 1e6 + 2e6,
        })
      : inOrder(Array(slot + 1).fill(10)).find((row) => row.slot === slot)!
  const rows = Array.from({ length: 200 }, (_, slot) => stream(slot, slot % 5 === 0))
  const hung = rows.map((row) => {
    const at = { intendedUs: row.slot * 1e6, dispatchedUs: row.slot * 1e6 }
    return row.outcome === 'timeout' ? { ...row, ...at, sentUs: row.slot * 1e6 } : row
  })
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

test('failed streams have no tokens, and unreported tokens are not counted as zero', {
  tags: 'whole',
}, async () => {
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
    at % 5 > 0 ? row : { ...row, events: 3, firstContentUs: null, lastContentUs: null },
  )
  expect(await check('goodput > 60%', rows)).toMatchObject({ value: 0.8, result: 'held' })
})

test('a timeout counts as at least its deadline, and a fast refusal never as a fast answer', async () => {
  const timeout = failure(200, { outcome: 'timeout', status: null, closedUs: 60e6, doneUs: null })
  const fast = failure(201, { closedUs: 2, doneUs: 2 })
  const rows = [...successes, timeout, fast]
  expect(await check('chat.response.max < 10s', rows)).toMatchObject({ value: 60e6, samples: 101 })
  expect(await check('chat.service.min > 5ms', rows)).toMatchObject({ result: 'held' })
})

test('an error share is of all sent requests, or of those that a filter selects', {
  tags: 'whole',
}, async () => {
  const rows = [
    ...successes.slice(0, 90),
    ...[0, 1, 2].map((at) => failure(300 + at, {})),
    ...[0, 1, 2, 3, 4].map((at) => failure(400 + at, { status: 500, errorCode: null })),
    // Wrong on purpose: an expected error.
    ...[0, 1].map((at) =>
      failure(500 + at, { expects: 'unknown-model', status: 404, errorCode: null }),
    ),
  ]
  // One burst of 8 errors: the next run may have none.
  expect(await check('errors < 1%', rows)).toMatchObject({ value: 0.08, result: 'inconclusive' })
  expect(await check('errors < 0.01%', rows)).toMatchObject({ value: 0.08, result: 'missed' })
  expect(await check('errors{code=429} <= 3%', rows)).toMatchObject({
    value: 0.03,
    result: 'inconclusive',
  })
  const apart = rows.map((row, at) => ({ ...row, intendedUs: ((at * 37) % 100) * 1e6 }))
  expect(await check('errors{code=429} <= 20%', apart)).toMatchObject({ result: 'held' })
  expect(await check('errors{code=rate_limit_exceeded}.count == 3', rows)).toMatchObject({
    result: 'held',
  })
  expect(await check('errors{status=404}.count == 2', rows)).toMatchObject({ result: 'held' })
  expect(await check('success > 70%', apart)).toMatchObject({ result: 'held' })
})

test('a share has the interval of Clopper and Pearson, and no error holds a limit after enough requests', {
  tags: 'whole',
}, async () => {
  // 3 of 100, spread out: scipy.stats.beta.ppf gives 0.6 % and 8.5 %, a little wider with t for the normal.
  const some = inOrder(mixed.slice(0, 100)).map((row) =>
    row.slot % 33 === 5 ? failure(row.slot, { intendedUs: row.intendedUs }) : row,
  )
  const errors = await check('errors < 5%', some)
  expect(errors).toMatchObject({ value: 0.03, result: 'inconclusive', needs: 491 })
  expect(errors.interval[0]).toBeGreaterThan(0.005)
  expect(errors.interval[0]).toBeLessThan(0.0063)
  expect(errors.interval[1]).toBeGreaterThan(0.085)
  expect(errors.interval[1]).toBeLessThan(0.093)
  const clean = inOrder(mixed)
  const first = (n: number) => clean.filter(({ slot }) => slot < n)
  expect(await check('errors < 1%', first(299))).toMatchObject({ result: 'held', value: 0 })
  expect(await check('errors < 1%', first(298))).toMatchObject({
    result: 'inconclusive',
    needs: 299,
  })
  expect(await check('success > 99%', first(299))).toMatchObject({ result: 'held' })
})

test('a bound at an end of all shares, and an equality, are about the requests of the run', {
  tags: 'whole',
}, async () => {
  expect(await check('errors <= 0%', successes)).toMatchObject({ result: 'held', worth: null })
  expect(await check('errors == 0', successes)).toMatchObject({ result: 'held' })
  expect(await check('success >= 100%', successes)).toMatchObject({ result: 'held' })
  expect(await check('errors > 0%', successes)).toMatchObject({ result: 'missed' })
})

test('a rate has the interval of its whole seconds', { tags: 'whole' }, async () => {
  // One success per second, with 11 tokens.
  expect(await check('tokens.rate > 10/s', successes)).toMatchObject({ result: 'held' })
  expect(await check('tokens.rate > 12/s', successes)).toMatchObject({ result: 'missed' })
  expect(await check('success.rate > 0.5/s', inOrder(mixed.slice(0, 10)))).toMatchObject({
    result: 'inconclusive',
  })
})

test('a filter by account or model selects the denominator of a share', {
  tags: 'whole',
}, async () => {
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
  const rows = successes.map((row, at) =>
    at % 2 === 0 ? row : failure(300 + at, { intendedUs: row.intendedUs }),
  )
  expect(await check('goodput >= 35%', rows)).toMatchObject({ value: 0.5, result: 'held' })
  expect(await check('goodput >= 35%', rows, 999)).toMatchObject({ value: 0, result: 'missed' })
})

test('counts, rates and credits are of sent requests', { tags: 'whole' }, async () => {
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

/** First tokens after 100 ms and 0.1 ms for each token of the prompt, of 1 to 600 kilotokens in an order without a pattern. */
const byLength = Array.from({ length: 600 }, (_, at): AttemptRow => {
  const intendedUs = at * 1e6
  const promptTokens = 1000 * (1 + ((at + 1) ** 7 % 601) - 1 || 1)
  const firstContentUs = intendedUs + 1000 + 100_000 + 100 * promptTokens
  const doneUs = firstContentUs + 10_000
  return {
    ...successes[0]!,
    ...{ slot: at, intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs + 1000 },
    ...{ promptTokens, firstContentUs, lastContentUs: doneUs, doneUs, closedUs: doneUs },
  }
})

test('a limit by length is held if enough requests are within their own limits', {
  tags: 'whole',
}, async () => {
  const share = { unit: 'share', shareOf: 'within their own limits', unknown: null }
  expect(await check('ttft.p95 < 100.001ms + 0.1ms/input_token', byLength)).toMatchObject({
    ...{ ...share, result: 'held', value: 1, bound: 0.95, samples: 600 },
  })
  // A limit for all would let short requests be as slow as the longest.
  expect(await check('ttft.p95 < 70s', byLength)).toMatchObject({ result: 'held', shareOf: null })
  expect(await check('ttft.p95 < 100ms + 0.1ms/input_token', byLength)).toMatchObject({
    ...{ ...share, result: 'missed', value: 0 },
  })
  expect(await check('ttft.p95 <= 100ms + 0.1ms/input_token', byLength)).toMatchObject({
    result: 'held',
  })
  // Every tenth is slower by a second.
  const slower = byLength.map((row) =>
    row.slot % 10 === 3 ? { ...row, firstContentUs: row.firstContentUs! + 1e6 } : row,
  )
  const within = (text: string) => check(text, slower)
  expect(await within('ttft.p80 < 101ms + 0.1ms/input_token')).toMatchObject({
    ...{ ...share, result: 'held', value: 0.9 },
  })
  expect(await within('ttft.p90 < 101ms + 0.1ms/input_token')).toMatchObject({
    result: 'inconclusive',
  })
  expect(await within('ttft.p95 < 101ms + 0.1ms/input_token')).toMatchObject({ result: 'missed' })
  // Without a statistic, of every request; a fact of the run, which needs no interval.
  expect(await within('ttft < 1101ms + 0.1ms/input_token')).toMatchObject({
    ...{ result: 'held', bound: 1, worth: null },
  })
  expect(await within('ttft < 101ms + 0.1ms/input_token')).toMatchObject({ result: 'missed' })
  // 11 tokens of output.
  expect(await check('service.p50 < 1ms/output_token', byLength)).toMatchObject({ value: 0 })
  expect(await check('service.p50 < 10s/output_token', byLength)).toMatchObject({ value: 1 })
})

test('a request whose tokens are not known may be within its limit or not, and a timeout is not', {
  tags: 'whole',
}, async () => {
  const unknown = (of: (slot: number) => boolean) =>
    byLength.map((row) => (of(row.slot) ? { ...row, promptTokens: null } : row))
  const p95 = (rows: readonly AttemptRow[]) => check('ttft.p95 < 101ms + 0.1ms/input_token', rows)
  expect(await p95(unknown(() => true))).toMatchObject({
    ...{ result: 'inconclusive', value: 0, interval: [0, 1], needs: null },
    unknown: 'of 600 requests the tokens are not known',
  })
  // 580 of 600 are enough without them, and 500 are not.
  expect(
    await check(
      'ttft.p90 < 101ms + 0.1ms/input_token',
      unknown((slot) => slot % 30 === 0),
    ),
  ).toMatchObject({ result: 'held', unknown: 'of 20 requests the tokens are not known' })
  expect(await p95(unknown((slot) => slot % 6 === 0))).toMatchObject({ result: 'inconclusive' })
  // 100 that are too slow miss it, whatever one more is.
  const slow = unknown((slot) => slot === 1).map((row) =>
    row.slot % 6 === 0 ? { ...row, firstContentUs: row.firstContentUs! + 1e6 } : row,
  )
  expect(await p95(slow)).toMatchObject({
    ...{ result: 'missed', unknown: 'of one request the tokens are not known' },
  })
  const timedOut = byLength.map((row) =>
    row.slot % 6 === 0
      ? {
          ...row,
          ...{
            outcome: 'timeout' as const,
            promptTokens: null,
            firstContentUs: null,
            doneUs: null,
          },
        }
      : row,
  )
  expect(await p95(timedOut)).toMatchObject({ result: 'missed', unknown: null })
})

test('a goodput of which something is not known says so, and no number of requests would decide it', async () => {
  const rows = successes.map((row) =>
    row.slot % 4 === 0 ? { ...row, completionTokens: null } : row,
  )
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  await appendAttempts(store, rows)
  const threshold = parseThreshold('goodput > 90%')
  if (typeof threshold === 'string') throw new Error(threshold)
  const objectives = { ttftUs: null, tpotUs: 1e9, serviceUs: null, responseUs: null }
  expect(
    await checkThreshold(store, threshold, { runId: 'r', contract: defaultContract, objectives }),
  ).toMatchObject({
    ...{ result: 'inconclusive', value: 0.75, needs: null },
    unknown: 'of 25 it is not known whether they are good',
  })
  store.close()
})
