import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { tokenFields } from '../../../src/measure/usage/quantities.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import type { UsageOptions } from '../../../src/report/usage/shape.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { attempt, enterRun } from '../attempts.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

const at = utc(2026, 11, 3, 10)
const hourUs = 3600e6
const read = (change: Partial<UsageOptions> = {}) => readUsage(store, usageOptions(change))

test('an error of which neither status nor code is known has a name', async () => {
  const failed = { atUs: at, outcome: 'http_error', status: null, credits: null }
  await enterEvents(store, [failed, failed, { ...failed, errorCode: 'no_capacity' }])
  const { errors } = await read()
  expect(errors.map(({ error, count }) => [error, count])).toEqual([
    ['http_error', 2],
    ['no_capacity', 1],
  ])
})

describe('cards', () => {
  test('they sum the period, and the same part of the one before', { tags: 'whole' }, async () => {
    const tokens = (promptTokens: number | null, completionTokens: number | null) => ({
      promptTokens,
      completionTokens,
    })
    await enterEvents(store, [
      // Before: the first two quarters of two hours, and one later than the elapsed part.
      { atUs: at - 2 * hourUs, credits: 4, ...tokens(1, 2) },
      { atUs: at - 2 * hourUs + 900e6, credits: 6, ...tokens(5, 2) },
      { atUs: at - 2 * hourUs + 1800e6, credits: 100, ...tokens(100, 100) },
      // Now: two quarters.
      { atUs: at, credits: 9, ...tokens(10, 20) },
      { atUs: at + 900e6, credits: 3, ...tokens(30, 40) },
      { atUs: at + 900e6, credits: null, ...tokens(7, null) },
      { atUs: at + 900e6, credits: 0, outcome: 'http_error', status: 500, ...tokens(9, 9) },
    ])
    const { cards } = await read({ fromUs: at, toUs: at + 2 * hourUs })
    expect(cards).toEqual([
      {
        name: 'credits',
        value: 12,
        before: 10,
        change: expect.closeTo(0.2, 9),
        n: 3,
        unmeasured: 1,
      },
      { name: 'requests', value: 4, before: 2, change: 1, n: 4, unmeasured: 0 },
      {
        name: 'tokens',
        value: 125,
        before: 10,
        change: 11.5,
        n: 3,
        unmeasured: 1,
      },
      { name: 'averageTokens', value: 50, before: 5, change: 9, n: 2, unmeasured: 1 },
    ])
  })

  test('a value without measurements is null, and a change from zero is null', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: at - 2 * hourUs, credits: 0, promptTokens: null, completionTokens: null },
      { atUs: at + hourUs, credits: 5, promptTokens: null, completionTokens: 7 },
      { atUs: at + 2 * hourUs - 1, credits: null, promptTokens: null, completionTokens: null },
    ])
    const { cards } = await read({ fromUs: at, toUs: at + 2 * hourUs })
    expect(cards.map(({ value, before, change }) => [value, before, change])).toEqual([
      [5, 0, null],
      [2, 1, 1],
      [7, null, null],
      [null, null, null],
    ])
  })

  test('a period without requests has no values', async () => {
    await enterEvents(store, [{ atUs: at - 30 * hourUs }, { atUs: at - 24 * hourUs }])
    const { cards } = await read({ fromUs: at, toUs: at + hourUs })
    expect(cards.map(({ value, before, n, unmeasured }) => [value, before, n, unmeasured])).toEqual(
      cards.map(() => [null, null, 0, 0]),
    )
  })
})

test('errors are summed by hour, and keys over all of their requests', {
  tags: 'whole',
}, async () => {
  const error = { outcome: 'http_error', credits: 0 }
  await enterEvents(store, [
    { atUs: at, ...error, status: 500 },
    { atUs: at + 1800e6, ...error, status: 500, requests: 3 },
    { atUs: at + hourUs, ...error, status: 500 },
    { atUs: at + hourUs, outcome: 'timeout', status: null, credits: null, account: null },
    {
      atUs: at + hourUs,
      keyFp: null,
      promptTokens: 3,
      cachedTokens: 1,
      completionTokens: 4,
      credits: 7,
    },
  ])
  const page = await read()
  expect(page.errors).toEqual([
    { startUs: at, label: '2026-11-03 10:00 +00:00', error: '500', count: 4 },
    { startUs: at + hourUs, label: '2026-11-03 11:00 +00:00', error: '500', count: 1 },
    { startUs: at + hourUs, label: '2026-11-03 11:00 +00:00', error: 'timeout', count: 1 },
  ])
  const none = {
    ...{ name: null, lastFour: null, failed: 0, limited: 0, ambiguous: 0 },
    ...Object.fromEntries(tokenFields.map((field) => [field, null])),
  }
  expect(page.topKeys).toEqual([
    {
      ...none,
      keyFp: '(unknown)',
      account: 'main',
      firstUs: at + hourUs,
      lastUs: at + hourUs,
      requests: 1,
      ok: 1,
      credits: 7,
      possibleCredits: 7,
      promptTokens: 3,
      cachedTokens: 1,
      completionTokens: 4,
    },
    {
      ...none,
      ...{ promptTokens: 30, cachedTokens: null, completionTokens: 60 },
      keyFp: 'k1',
      account: 'main',
      firstUs: at,
      lastUs: at + hourUs,
      requests: 5,
      ok: 0,
      failed: 5,
      credits: 0,
      possibleCredits: 0,
    },
    {
      ...none,
      ...{ promptTokens: 10, cachedTokens: null, completionTokens: 20 },
      keyFp: 'k1',
      account: null,
      firstUs: at + hourUs,
      lastUs: at + hourUs,
      requests: 1,
      ok: 0,
      failed: 1,
      ambiguous: 1,
      credits: null,
      possibleCredits: null,
    },
  ])
})

describe('the outlook', () => {
  const enterDays = (days: number) =>
    enterEvents(
      store,
      Array.from({ length: days * 24 }, (_, hour) => ({
        atUs: utc(2026, 11, 1) + hour * hourUs,
        credits: 10,
      })),
    )
  const grants = [{ name: 'held', credits: 480, expiresUs: null }]

  test('it begins where use is known, and covers a year', { tags: 'whole' }, async () => {
    await enterDays(4)
    const page = await read({ grants, nowUs: utc(2026, 11, 5) })
    // The last request was at 23:00, and no hour is silent for longer.
    const beginUs = utc(2026, 11, 5)
    expect(page.forecast).toMatchObject({ known: true, fullDays: 4 })
    if (!page.depletion.known || !page.plan?.known) throw new Error('no forecast')
    const { medianUs, horizonDays } = page.depletion.runsOut
    expect(horizonDays).toBe(365)
    // 480 credits are two days of 240.
    expect((medianUs! - beginUs) / hourUs).toBeCloseTo(48, 3)
    // Thirty local days.
    expect(page.plan.needCredits).toBeCloseTo(30 * 240 - 480, 3)
    expect(page.depletion.summary).toBe('480 credits at 240 a day.')
  })

  test('an outlook whose date has passed gives the age of the last usage', {
    tags: 'whole',
  }, async () => {
    await enterDays(4)
    const summary = async (nowUs: number) => (await read({ grants, nowUs })).depletion.summary
    const passed = (days: number) =>
      `480 credits at 240 a day. At that rate they have run out: the last usage was ${days} days ago. Poll the balance (assay usage watch), or give --grants.`
    expect(await summary(utc(2026, 11, 6, 22))).toBe('480 credits at 240 a day.')
    expect(await summary(utc(2026, 11, 7, 1))).toBe(passed(2))
    expect(await summary(utc(2026, 11, 14))).toBe(passed(9))
    const lasting = [{ name: 'held', credits: 1e6, expiresUs: null }]
    expect((await read({ grants: lasting, nowUs: utc(2028, 11, 14) })).depletion.summary).toBe(
      '1,000,000 credits last longer than the 365 days of the forecast.',
    )
    expect((await read({ nowUs: utc(2026, 11, 14) })).depletion.summary).toMatch(
      /^The balance is not known/,
    )
  })
})

test('the contract of the runs is used if everything shown belongs to runs with it', {
  tags: 'whole',
}, async () => {
  await enterRun(store)
  await appendAttempts(store, [attempt(0)])
  const contract = null
  expect((await read({ contract })).scope.notes).toEqual([])
  await enterRun(store, 'b', { contract: 'other' })
  await appendAttempts(store, [attempt(0, { runId: 'b' })])
  const { plan, scope } = await read({ contract })
  expect(plan).toBeNull()
  expect(scope.notes).toEqual([
    'Rate bands, packages and limits are omitted: no contract is given, and the service may not follow the specification. Give --contract FILE, or --contract svc if it does.',
  ])
  expect((await read({ contract: defaultContract })).plan).toMatchObject({ known: false })
  expect((await read({ contract, runIds: ['a'] })).plan).toMatchObject({ known: false })
  // A log may have the same name as a run.
  await enterEvents(store, [{ atUs: at, source: 'a' }])
  expect((await read({ contract, sources: ['a'] })).plan).toBeNull()
})
