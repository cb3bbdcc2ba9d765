import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readUsage } from '../../src/report/usage/read.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { emptyStore, type Store } from '../store/opened.ts'
import { attempt, enterRun, novemberUs } from './attempts.ts'
import { enterEvents, usageOptions } from './usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

describe('attempts of runs', () => {
  test('they are priced by the contract and shown in the time of the service', {
    tags: 'whole',
  }, async () => {
    await enterRun(store, 'a', { timeScale: 1 })
    const serviceS = Date.UTC(2026, 10, 5, 6) / 1000
    await appendAttempts(store, [
      attempt(0, { dateS: serviceS }),
      attempt(1, { dateS: serviceS + 1, model: 'svc-k2.5' }),
      attempt(2, { outcome: 'http_error', status: 429, dateS: serviceS + 2 }),
      // No Date: the offset of the others is used.
      attempt(3, { outcome: 'aborted', status: null, doneUs: null, model: 'svc-k2.5' }),
      attempt(4, { outcome: 'not_sent', sentUs: null, reason: 'budget' }),
      attempt(5, { endpoint: 'models', dateS: serviceS + 5 }),
    ])
    const page = await readUsage(store, usageOptions())
    expect(page.cards[0]).toMatchObject({ value: 3 })
    const hour = page.hours.filter((point) => (point.requests ?? 0) > 0)
    expect(
      hour.map(({ label, series, requests, credits, possibleCredits }) => [
        label,
        series,
        requests,
        credits,
        possibleCredits,
      ]),
    ).toEqual([
      ['2026-11-05 06:00 +00:00', 'svc-k2', 2, 1, 1],
      ['2026-11-05 06:00 +00:00', 'svc-k2.5', 2, 2, 4],
    ])
    expect(page.errors.map((error) => [error.error, error.count])).toEqual([
      ['429', 1],
      ['aborted', 1],
    ])
  })

  test('every kind of token that an attempt reports is in its usage', {
    tags: 'whole',
  }, async () => {
    await enterRun(store, 'a', { timeScale: 1 })
    await appendAttempts(store, [
      attempt(0, {
        cachedTokens: 4,
        cacheWriteTokens: 2,
        cacheWrite1hTokens: 3,
        reasoningTokens: 7,
      }),
      attempt(1),
    ])
    const { tokens } = (await readUsage(store, usageOptions())).totals
    expect(tokens).toMatchObject({
      input: { value: 20, unknown: 0 },
      cached: { value: 4, unknown: 1 },
      // Those for five minutes and those for an hour.
      cacheWrite: { value: 5, unknown: 1 },
      output: { value: 40, unknown: 0 },
      reasoning: { value: 7, unknown: 1 },
    })
  })

  test('a scaled run is shown in scaled time, from the Date of the service', {
    tags: 'whole',
  }, async () => {
    await enterRun(store, 'a', { timeScale: 86_400 })
    await appendAttempts(
      store,
      Array.from({ length: 10 }, (_, day) =>
        attempt(day, { dateS: Math.floor(novemberUs / 1e6) + day * 86_400 }),
      ),
    )
    const page = await readUsage(store, usageOptions())
    const days = page.days.filter((day) => (day.requests ?? 0) > 0)
    expect(days.map((day) => day.label)).toEqual(
      Array.from({ length: 10 }, (_, day) => `2026-11-${String(day + 1).padStart(2, '0')}`),
    )
  })

  const dayS = 86_400
  const novemberS = novemberUs / 1e6
  /** Requests of each local day with any. */
  const requestsOfDays = async () =>
    Object.fromEntries(
      (await readUsage(store, usageOptions())).days.flatMap(({ label, requests }) =>
        requests ? [[label, requests]] : [],
      ),
    )

  test('a Date that few answers have shifts no answers or balances', {
    tags: 'whole',
  }, async () => {
    await enterRun(store)
    await appendAttempts(
      store,
      Array.from({ length: 40 }, (_, at) =>
        attempt(at, {
          dateS: at % 8 === 0 ? Date.UTC(2200, 0, 1) / 1000 : novemberS + 2 * dayS + at,
          creditsRemaining: 100 - at,
        }),
      ),
    )
    expect(await requestsOfDays()).toEqual({ '2026-11-03': 40 })
    const { balance } = await readUsage(store, usageOptions())
    expect(balance.map(({ remaining }) => remaining)).toEqual([61])
    expect(balance[0]!.atUs / 1e6 - novemberS - 2 * dayS).toBeCloseTo(39.5, 0)
  })

  test.each([
    ['the year 9999', () => Date.UTC(9999, 11, 31) / 1000],
    ['the year 1970', () => 0],
    ['the last date of JavaScript', () => 8.64e12],
    ['one constant date', () => novemberS + 400 * dayS],
    ['dates without a common offset', (at: number) => novemberS + at * at * 1_000],
  ])('Dates of %s are not a clock: the run keeps its own', { tags: 'whole' }, async (_, dateS) => {
    await enterRun(store)
    const last = 20
    await appendAttempts(
      store,
      Array.from({ length: last }, (_, at) => attempt(at, { dateS: dateS(at) })),
    )
    expect(await requestsOfDays()).toEqual({ '2026-11-01': last })
  })

  test('a single answer does not set the clock', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(0, { dateS: novemberS + 3 * dayS }), attempt(1)])
    expect(await requestsOfDays()).toEqual({ '2026-11-01': 2 })
  })

  test('usage of a run is within the run, for any Dates in its answers', {
    tags: 'whole',
  }, async () => {
    const runs = fc.sample(
      fc.record({
        timeScale: fc.constantFrom(1, 60, 86_400),
        dates: fc.array(
          fc.option(
            fc.oneof(
              fc.integer({ min: -8.64e12, max: 8.64e12 }),
              fc.constantFrom(novemberS, novemberS + 40 * dayS, novemberS + 8_000 * 366 * dayS),
            ),
          ),
          { minLength: 1, maxLength: 5 },
        ),
      }),
      { numRuns: 40, seed: 11 },
    )
    for (const [number, { timeScale }] of runs.entries()) {
      await enterRun(store, `r${number}`, { timeScale })
    }
    await appendAttempts(
      store,
      runs.flatMap(({ dates }, number) =>
        dates.map((dateS, at) => attempt(at, { runId: `r${number}`, dateS })),
      ),
    )
    const { scope } = await readUsage(store, usageOptions())
    expect(scope.sources).toHaveLength(runs.length)
    for (const { source, firstUs, lastUs } of scope.sources) {
      const { dates, timeScale } = runs[Number(source.slice(1))]!
      expect(lastUs - firstUs).toBeCloseTo((dates.length - 1) * 1e6 * timeScale, -1)
      expect(Math.abs(firstUs - novemberUs)).toBeLessThan(32 * dayS * 1e6 * timeScale)
    }
  })

  test('the Date of a poll does not shift it', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(0), attempt(3600)])
    for (const [at, serviceUs] of [
      253_402_214_400e6,
      novemberUs + 30.5e6,
      novemberUs + 60e6,
    ].entries()) {
      await store.execute(
        `INSERT INTO usage_polls (polled_us, service_us, base_url, key_fp, status, remaining)
         VALUES ($1, $2, 'http://127.0.0.1:1', 'k', 200, $3)`,
        [BigInt(novemberUs + at * 30e6), BigInt(serviceUs), 100 - at],
      )
    }
    const { balance } = await readUsage(store, usageOptions())
    expect(balance).toEqual([
      { atUs: novemberUs + 60e6 + 250_000, account: 'k', remaining: 98, from: 'poll' },
    ])
  })

  test('only the named runs and sources count, and an overlap is noted', {
    tags: 'whole',
  }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(0)])
    await enterEvents(store, [
      { atUs: novemberUs + 9e5 },
      { atUs: novemberUs + 5e6, source: 'other' },
    ])
    await enterEvents(store, [{ atUs: novemberUs }])
    const all = await readUsage(store, usageOptions())
    expect(all.cards[1]).toMatchObject({ value: 4 })
    expect(all.scope.notes[0]).toMatch(/"log".*count twice/)
    const runOnly = await readUsage(store, usageOptions({ runIds: ['a'] }))
    expect(runOnly.cards[1]).toMatchObject({ value: 1 })
    expect(runOnly.scope.notes).toEqual([])
    const logOnly = await readUsage(store, usageOptions({ sources: ['other'] }))
    expect(logOnly.cards[1]).toMatchObject({ value: 1 })
  })

  test('the balance over time is the last header of each quarter, and feeds the forecast', {
    tags: 'whole',
  }, async () => {
    await enterRun(store)
    await appendAttempts(
      store,
      Array.from({ length: 8 * 24 }, (_, hour) =>
        attempt(hour * 3600, { creditsRemaining: 1_000 - hour - 1 }),
      ),
    )
    const page = await readUsage(store, usageOptions())
    expect(page.balance).toHaveLength(8 * 24)
    expect(page.balance.at(-1)).toMatchObject({ remaining: 808, from: 'header', account: 'main' })
    if (!page.forecast.known) throw new Error(page.forecast.summary)
    expect(page.forecast.medianPerDay).toBeCloseTo(24, 3)
    if (!page.depletion.known) throw new Error(page.depletion.summary)
    expect(page.depletion.balance).toBe(808)
    const days = (page.depletion.runsOut.medianUs! - (novemberUs + 191 * 3600e6)) / 86_400e6
    expect(days).toBeGreaterThan(33)
    expect(days).toBeLessThan(34.1)
    expect(page.plan).toMatchObject({ known: true, cheapest: { credits: 0 } })
  })
})

test('balances of several accounts are added, with a note', { tags: 'whole' }, async () => {
  await enterRun(store)
  await appendAttempts(store, [
    attempt(0, { creditsRemaining: 100 }),
    attempt(1, { account: 'other', keyFp: 'ffffffffffff', creditsRemaining: 50 }),
  ])
  const { scope } = await readUsage(store, usageOptions())
  expect(scope.notes.join()).toMatch(/The balances of 2 accounts are added/)
  const grants = [{ name: 'main', credits: 100, expiresUs: null }]
  expect((await readUsage(store, usageOptions({ grants }))).scope.notes).toEqual([])
})
