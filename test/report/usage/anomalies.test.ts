import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  chanceOfAtLeast,
  type HourFigures,
  judgeHours,
} from '../../../src/report/usage/anomalies.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import { openStore, type Store } from '../../../src/store/open.ts'
import { appendAttempts } from '../../../src/store/recorder.ts'
import { attempt, enterRun } from '../attempts.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
})
afterEach(() => store.close())

describe('hours that want a look', () => {
  const hoursOf = (count: number, of: (at: number) => Partial<HourFigures> = () => ({})) =>
    Array.from({ length: count }, (_, at): HourFigures => {
      const startUs = utc(2026, 11, 2) + at * 3600e6
      const label = `${new Date(startUs / 1000).toISOString().slice(0, 16).replace('T', ' ')} +00:00`
      return { startUs, label, requests: 100, failed: 0, limited: 0, credits: 100, ...of(at) }
    })
  const flags = (hours: readonly HourFigures[]) =>
    judgeHours(hours).filter(({ count }) => count > 0)

  test.each([
    // The median is 100, and counting scatters by its root: more than 130 is unusual.
    { credits: 130, found: 0 },
    { credits: 131, found: 1 },
  ])('of 25 hours, one of $credits credits is unusual: $found', ({ credits, found }) => {
    const hours = hoursOf(25, (at) => (at === 24 ? { credits } : {}))
    expect(flags(hours)).toEqual(
      found === 0
        ? []
        : [
            {
              kind: 'unusual-hour',
              count: 1,
              says: '1 hour took more than three robust sigmas over the median of their time of day.',
              rows: [
                {
                  source: 'hour',
                  id: '2026-11-03 00:00 +00:00',
                  atUs: utc(2026, 11, 3),
                  shows: '131 credits',
                },
              ],
            },
          ],
    )
  })

  test('the median absolute deviation widens what is usual', () => {
    // Half of the hours are 20 away from the median: three times 1.4826 * 20 is 88.956.
    const spread = (credits: number) =>
      hoursOf(25, (at) => ({ credits: at === 24 ? credits : [80, 100, 100, 120][at % 4]! }))
    expect(flags(spread(130))).toEqual([])
    const wide = (credits: number) =>
      hoursOf(25, (at) => ({ credits: at === 24 ? credits : [60, 80, 100, 120, 140][at % 5]! }))
    expect(flags(wide(188))).toEqual([])
    expect(flags(wide(189)).map(({ kind, count }) => [kind, count])).toEqual([['unusual-hour', 1]])
  })

  test('an hour is held against its time of day once that was busy on seven days', () => {
    const busyAtNine = (days: number) =>
      hoursOf(days * 24, (at) => ({ credits: at % 24 === 9 ? 1_000 : 100 }))
    expect(flags(busyAtNine(7))).toEqual([])
    const [flag] = flags(busyAtNine(6))
    expect(flag).toMatchObject({
      count: 6,
      says: '6 hours took more than three robust sigmas over the median of their time of day.',
    })
    expect(flag!.rows.map(({ atUs }) => atUs)).toEqual(
      [2, 3, 4, 5, 6].map((day) => utc(2026, 11, day, 9)),
    )
    const night = hoursOf(7 * 24, (at) => (at % 24 < 12 ? { credits: 10 } : {}))
    expect(flags(night)).toEqual([])
    expect(
      flags([...night, ...hoursOf(169, (at) => ({ credits: at === 168 ? 60 : null })).slice(168)]),
    ).toMatchObject([{ kind: 'unusual-hour', count: 1 }])
  })

  test.each([23, 24])('hours without credits count as none: %i busy hours', (busy) => {
    const hours = hoursOf(30, (at) =>
      at < busy ? { credits: at === 0 ? 500 : 100 } : { credits: at % 2 === 0 ? 0 : null },
    )
    expect(flags(hours)).toHaveLength(busy - 23)
  })

  const withJump = (first: Partial<HourFigures>, others: Partial<HourFigures>, count = 10) =>
    flags(hoursOf(count, (at) => ({ credits: null, ...(at === 0 ? first : others) }))).map(
      ({ kind, rows }) => [kind, ...rows.map(({ shows }) => shows)],
    )

  test.each([
    // All others: 9 of 900 failed. Of 100, one is usual, and eight come by chance once in 100,000 hours.
    { failed: 8, usual: 1, jump: false },
    { failed: 9, usual: 1, jump: true },
    // Without any other failure the usual is one of all others.
    { failed: 3, usual: 0, jump: false },
    { failed: 4, usual: 0, jump: true },
  ])(
    '$failed failures of 100 where $usual are usual are a jump: $jump',
    ({ failed, usual, jump }) => {
      const shows = `${failed}.0 % of 100 failed`
      expect(withJump({ failed }, { failed: usual })).toEqual(jump ? [['error-jump', shows]] : [])
      const limited = `${failed}.0 % of 100 were limited`
      expect(withJump({ limited: failed }, { limited: usual })).toEqual(
        jump ? [['limit-jump', limited]] : [],
      )
    },
  )

  test.each([
    [
      'no more than twice the usual share',
      { requests: 10_000, failed: 2_000 },
      { requests: 10_000, failed: 1_000 },
      0,
    ],
    [
      'more than twice the usual share',
      { requests: 10_000, failed: 2_001 },
      { requests: 10_000, failed: 1_000 },
      1,
    ],
    ['an hour of 19 requests', { requests: 19, failed: 19 }, {}, 0],
    ['an hour of 20 requests', { requests: 20, failed: 20 }, {}, 1],
    ['all other hours have 19 requests', { failed: 100 }, { requests: 1 }, 0],
  ])('errors: %s', (_, first, others, found) => {
    expect(withJump(first, others, 20)).toHaveLength(found)
  })

  test('all other hours have 20 requests', () => {
    expect(withJump({ failed: 100 }, { requests: 1 }, 21)).toEqual([
      ['error-jump', '100.0 % of 100 failed'],
    ])
  })
})

describe('what wants a look', () => {
  const kinds = async () =>
    (await readUsage(store, usageOptions())).anomalies.map(({ kind, count }) => [kind, count])

  test('charges without success, successes without charge, tokens over the limit', async () => {
    const at = utc(2026, 11, 3)
    await enterEvents(store, [
      { atUs: at, outcome: 'http_error', status: 500, credits: 1 },
      { atUs: at, credits: 0 },
      { atUs: at, completionTokens: 1_165_619 },
      { atUs: at },
      { atUs: at, model: 'unknown', credits: 0 },
    ])
    expect(await kinds()).toEqual([
      ['charge-without-success', 1],
      ['success-without-charge', 1],
      ['tokens-over-limit', 1],
    ])
  })

  test('an hour far over the median, a jump of errors, a new key; an even week is quiet', async () => {
    const week = Array.from({ length: 7 * 24 }, (_, hour) =>
      Array.from({ length: 20 + (hour % 5) }, (_, at) => ({
        atUs: utc(2026, 11, 2) + hour * 3600e6 + at * 60e6,
      })),
    ).flat()
    await enterEvents(store, week)
    expect(await kinds()).toEqual([])
    await enterEvents(
      store,
      Array.from({ length: 200 }, (_, second) => ({
        atUs: utc(2026, 11, 5, 3) + second * 1e6,
        keyFp: 'fresh',
        ...(second % 10 === 0 ? { outcome: 'http_error', status: 500, credits: 0 } : {}),
      })),
    )
    expect(await kinds()).toEqual([
      ['unusual-hour', 1],
      ['error-jump', 1],
      ['new-key', 1],
    ])
  })

  test('the chance of a count is that of Poisson', () => {
    expect(chanceOfAtLeast(2, 1)).toBeCloseTo(1 - 2 / Math.E, 12)
    // Beyond 745 it is the bound of the normal tail.
    expect(chanceOfAtLeast(1_000, 1_000)).toBe(1)
    expect(chanceOfAtLeast(999, 1_000)).toBe(1)
    expect(chanceOfAtLeast(1_100, 1_000)).toBeCloseTo(Math.exp(-5) / 2, 12)
    expect(chanceOfAtLeast(400, 100)).toBe(0)
    expect(chanceOfAtLeast(0, 5)).toBe(1)
    expect(chanceOfAtLeast(1, 0.5)).toBeCloseTo(1 - Math.exp(-0.5), 12)
    expect(chanceOfAtLeast(3, 0.6)).toBeCloseTo(0.0231, 4)
    expect(chanceOfAtLeast(1_000, 900)).toBeLessThan(0.01)
    expect(chanceOfAtLeast(5_000, 1_000)).toBeLessThan(1e-12)
  })

  test('a balance that stands still under charges is flagged', async () => {
    await enterRun(store)
    await appendAttempts(
      store,
      Array.from({ length: 60 }, (_, at) =>
        attempt(at, { creditsRemaining: at < 25 ? 500 : 500 - at }),
      ),
    )
    expect(await kinds()).toEqual([['flat-remaining', 1]])
  })
})
