import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { measureNames } from '../../src/measure/measures.ts'
import { percentileOf, samplesNeeded } from '../../src/measure/percentile.ts'
import { countedOf, readGroups } from '../../src/report/summary/groups.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { resolveRun } from '../../src/store/runs/runs.ts'
import { inSession } from '../../src/store/session/session.ts'
import { tries } from '../nightly/tries.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

test('a percentile needs the sample counts of MLPerf', () => {
  expect([0.9, 0.99, 0.999].map(samplesNeeded)).toEqual([64, 662, 6636])
})

test('percentiles of rows are linear interpolations of the sorted values', {
  tags: 'whole',
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 60 }),
      async (times) => {
        const store = await openStore(':memory:')
        await enterRun(store)
        await appendAttempts(
          store,
          times.map((time, slot) =>
            attempt(slot, { doneUs: slot * 1e6 + 20 + time, closedUs: slot * 1e6 + 20 + time }),
          ),
        )
        const { service } = (await summarise(store, 'a', defaultContract)).all.metrics
        store.close()
        const sorted = [...times].sort((a, b) => a - b)
        expect(service.p90.us).toBeCloseTo(percentileOf(sorted, 0.9)!, 3)
        expect(service.p999.us).toBeCloseTo(percentileOf(sorted, 0.999)!, 3)
        expect(service).toMatchObject({ n: times.length, maxUs: sorted.at(-1) })
        expect(service.p999.mark).toBe('too-few')
      },
    ),
    { numRuns: tries(4, 20) },
  )
})

test('a timeout counts as at least its deadline, and marks every percentile above it', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  const timeout = { outcome: 'timeout', status: null, doneUs: null } as const
  await appendAttempts(
    store,
    Array.from({ length: 1000 }, (_, slot) =>
      slot % 25 === 0
        ? attempt(slot, { ...timeout, closedUs: slot * 1e6 + 20 + 5e6 })
        : attempt(slot),
    ),
  )
  const { all } = await summarise(store, 'a', defaultContract)
  store.close()
  expect(all.metrics.service).toMatchObject({ n: 1000, censored: 40 })
  expect(all.metrics.service.p50).toMatchObject({ us: 100_000, mark: 'exact' })
  expect(all.metrics.service.p99).toMatchObject({ us: 5e6, mark: 'at-least' })
  expect(all.counts).toMatchObject({ attempts: 1000, sent: 1000, ok: 960, timeout: 40 })
})

test('a percentile between a finished request and one that was cut off is at least its value', {
  tags: 'whole',
}, async () => {
  const ended = (slot: number, us: number) =>
    attempt(slot, { doneUs: slot * 1e6 + 20 + us, closedUs: slot * 1e6 + 20 + us })
  /** The p90 of so many fast requests, then these slower ones, and those that were cut off after 708 ms. */
  const p90Of = async (fast: number, slowerUs: readonly number[], cutOff: number) => {
    const store = await openStore(':memory:')
    await enterRun(store)
    const times = [...Array<number>(fast).fill(100_000), ...slowerUs]
    await appendAttempts(store, [
      ...times.map((us, slot) => ended(slot, us)),
      ...Array.from({ length: cutOff }, (_, at) => {
        const slot = times.length + at
        const closedUs = slot * 1e6 + 20 + 708_000
        return attempt(slot, { outcome: 'timeout', status: null, doneUs: null, closedUs })
      }),
      attempt(200, { step: 'other', doneUs: 200e6 + 40, closedUs: 200e6 + 40 }),
    ])
    const { all, steps } = await summarise(store, 'a', defaultContract)
    store.close()
    expect(steps[1]!.metrics.service).toMatchObject({ n: 1, censored: 0 })
    expect(all.metrics.service.n).toBe(times.length + cutOff + 1)
    return [all, steps[0]!].map(({ metrics }) => metrics.service.p90)
  }
  // The p90 of 100 values is a tenth of the way from the 90th to the 91st.
  const [, toCutOff] = await p90Of(89, [698_000], 10)
  expect(toCutOff).toMatchObject({ us: expect.closeTo(699_000, 3), mark: 'at-least' })
  const [, toFinished] = await p90Of(89, [698_000, 706_000], 9)
  expect(toFinished).toMatchObject({ us: expect.closeTo(698_800, 3), mark: 'exact' })
  // That of 101 values is the 91st: of the step without the other, then of all.
  const [, atFinished] = await p90Of(90, [698_000], 10)
  expect(atFinished).toMatchObject({ us: 698_000, mark: 'exact' })
  const [ofAll] = await p90Of(88, [697_000, 698_000], 10)
  expect(ofAll).toMatchObject({ us: 698_000, mark: 'exact' })
  // That of 102 is nine tenths of the way from the 91st to the 92nd.
  const [between] = await p90Of(89, [698_000], 11)
  expect(between).toMatchObject({ us: expect.closeTo(707_000, 3), mark: 'at-least' })
})

test('a request that was cut off in one step leaves the percentiles of the others exact', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  const timeout = { outcome: 'timeout', status: null, doneUs: null } as const
  await appendAttempts(
    store,
    Array.from({ length: 40 }, (_, slot) =>
      slot % 2 === 0
        ? attempt(slot, { step: 'slow', ...timeout, closedUs: slot * 1e6 + 20 + 5e6 })
        : attempt(slot, { step: 'sound' }),
    ),
  )
  const { steps } = await summarise(store, 'a', defaultContract)
  store.close()
  expect(steps.map(({ step, metrics }) => [step, metrics.service.p50])).toEqual([
    ['slow', { us: 5e6, mark: 'at-least', needs: 11 }],
    ['sound', { us: 100_000, mark: 'exact', needs: 11 }],
  ])
})

test('measures that are read one query each have the figures of those that are read at once', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(
    store,
    Array.from({ length: 60 }, (_, slot) =>
      attempt(slot, { step: slot % 3 === 0 ? 'a' : 'b', doneUs: slot * 1e6 + 20 + 100 * slot }),
    ),
  )
  const [atOnce, oneByOne] = await inSession(store, {}, (session) => {
    const read = (values: number) => readGroups(session, countedOf('a', '{}'), measureNames, values)
    return Promise.all([read(60 * measureNames.length), read(60)])
  })
  store.close()
  expect(oneByOne).toEqual(atOnce)
  expect(oneByOne!.map(({ step, metrics }) => [step, metrics.service.n])).toEqual([
    [null, 60],
    ['a', 20],
    ['b', 40],
  ])
})

test('a fast failure is not part of the latency of successes', { tags: 'whole' }, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(store, [
    attempt(0),
    ...Array.from({ length: 99 }, (_, at) =>
      attempt(at + 1, {
        outcome: 'http_error',
        status: 429,
        errorCode: 'rate_limit_exceeded',
        errorMessage: 'slow down',
        doneUs: (at + 1) * 1e6 + 500,
        // It was handled later than it arrived.
        closedUs: (at + 1) * 1e6 + 900,
      }),
    ),
  ])
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  expect(summary.all.metrics.service).toMatchObject({ n: 1, minUs: 100_000 })
  expect(summary.all.metrics.failure).toMatchObject({ n: 99, maxUs: 500 })
  expect(summary.errors).toEqual([
    {
      outcome: 'http_error',
      status: 429,
      code: 'rate_limit_exceeded',
      reason: null,
      said: 'slow down',
      onPurpose: false,
      count: 99,
    },
  ])
})

test('a kind of error has the body of its first attempt, whole letters of it, however rows are stored', async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(
    store,
    [2, 1, 0].map((retry) =>
      attempt(7, { retry, outcome: 'http_error', status: 500, flags: flags.captured }),
    ),
  )
  for (const retry of [2, 1, 0])
    await store.execute("INSERT INTO bodies VALUES ('a', 7, $1, '', $2, false, NULL)", [
      retry,
      `${retry}${'x'.repeat(1998)}𝒳`,
    ])
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  expect(summary.errors.map(({ said }) => said)).toEqual([`0${'x'.repeat(1998)}`])
})

test('metrics cover the steady part, credits the whole run at contract prices', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(store, [
    attempt(0, { part: 'warmup', creditsRemaining: 100 }),
    // A saturating load has the time when an answer was complete, not the time of its headers.
    attempt(1, { model: 'svc-k2.5', creditsRemaining: 98, headersUs: null }),
    attempt(2, { outcome: 'aborted', status: null, doneUs: null, model: 'svc-k2.5' }),
    attempt(3, { outcome: 'not_sent', sentUs: null, dispatchedUs: null, reason: 'budget' }),
  ])
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  expect(summary.part).toBe('steady')
  expect(summary.all.counts).toMatchObject({ attempts: 3, sent: 2, notSent: 1, ok: 1, aborted: 1 })
  expect(summary.countsAddUp).toBe(true)
  expect(summary.credits).toEqual({
    stated: true,
    spent: 3,
    spentAtMost: 5,
    balances: [
      {
        ...{ account: 'main', first: 100, last: 98, taken: 2 },
        ...{ expected: 1, expectedAtMost: 2, unexplained: 0 },
      },
    ],
    otherTries: [],
  })
})

test('of balances at the same time the lower is the later', { tags: 'whole' }, async () => {
  // Answers that one poll of the event loop read share the time of their headers.
  const together = [8, 10, 7, 9].map((creditsRemaining, slot) =>
    attempt(slot, { creditsRemaining, headersUs: 5e6 }),
  )
  for (const rows of [together, together.toReversed()]) {
    const store = await openStore(':memory:')
    await enterRun(store)
    await appendAttempts(store, rows)
    const { credits } = await summarise(store, 'a', defaultContract)
    store.close()
    expect(credits.balances).toMatchObject([
      { account: 'main', first: 10, last: 7, taken: 3, unexplained: 0 },
    ])
  }
})

test('a value that was not measured is null, never 0', { tags: 'whole' }, async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  await appendAttempts(store, [
    attempt(0, { model: 'another', promptTokens: null, completionTokens: null }),
  ])
  const summary = await summarise(store, 'a', defaultContract)
  store.close()
  expect(summary.credits.spent).toBeNull()
  expect(summary.all).toMatchObject({ promptTokens: null, completionTokensPerS: null })
  expect(summary.all.metrics.ttft).toMatchObject({ n: 0, meanUs: null })
  expect(summary.all.metrics.ttft.p99).toMatchObject({ us: null, mark: 'none' })
})

test('a run is found by a prefix, and an ambiguous or unknown one is refused with the known runs', async () => {
  const store = await openStore(':memory:')
  await enterRun(store, 'abc')
  await enterRun(store, 'abd')
  expect(await resolveRun(store, 'abd')).toBe('abd')
  const [newest, older] = [await resolveRun(store, 'latest'), await resolveRun(store, 'previous')]
  expect([newest, older].toSorted()).toEqual(['abc', 'abd'])
  await expect(resolveRun(store, 'ab')).rejects.toThrow(/2 runs "ab".*abc \(quick\)/)
  await expect(resolveRun(store, 'x')).rejects.toThrow(/no run "x"/)
  store.close()
})
