import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { findAnomalies } from '../../../src/report/usage/anomalies.ts'
import { storeEngine } from '../../../src/report/usage/engine/engine.ts'
import {
  chanceOfAtLeast,
  type HourFigures,
  judgeHours,
} from '../../../src/report/usage/odd-hours.ts'
import { readUsage, readUsageIn } from '../../../src/report/usage/read.ts'
import { judge } from '../../../src/report/usage/reconcile.ts'
import type { UsageOptions } from '../../../src/report/usage/shape.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { attempt, enterRun, novemberUs } from '../attempts.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

describe('unusual hours', () => {
  const hoursOf = (count: number, of: (at: number) => Partial<HourFigures> = () => ({})) =>
    Array.from({ length: count }, (_, at): HourFigures => {
      const startUs = utc(2026, 11, 2) + at * 3600e6
      const label = `${new Date(startUs / 1000).toISOString().slice(0, 16).replace('T', ' ')} +00:00`
      return { startUs, label, requests: 100, failed: 0, limited: 0, credits: 100, ...of(at) }
    })
  const flags = (hours: readonly HourFigures[]) =>
    judgeHours(hours).filter(({ count }) => count > 0)

  test.each([
    // Three times the median of 100; 2 % of the other 24 hours is less.
    { credits: 299, found: 0 },
    { credits: 300, found: 1 },
  ])('one hour of 25 with $credits credits is flagged: $found', ({ credits, found }) => {
    const hours = hoursOf(25, (at) => (at === 24 ? { credits } : {}))
    expect(flags(hours)).toEqual(
      found === 0
        ? []
        : [
            {
              kind: 'unusual-hour',
              count: 1,
              summary: '1 hour used far more than the median of the same time of day.',
              rows: [
                {
                  source: 'hour',
                  id: '2026-11-03 00:00 +00:00',
                  atUs: utc(2026, 11, 3),
                  shows: '300 credits, usually 100',
                  hour: {
                    ...{ unit: 'credits', amount: 300, usual: 100 },
                    ...{ requests: 100, usualRequests: 100 },
                  },
                },
              ],
            },
          ],
    )
  })

  test('hours of very different amounts explain one of three times the usual', () => {
    const spread = (most: number, credits: number) =>
      hoursOf(49, (at) => ({ credits: at === 48 ? credits : [100, 100, 100, most][at % 4]! }))
    expect(flags(spread(105, 301)).map(({ kind, count }) => [kind, count])).toEqual([
      ['unusual-hour', 1],
    ])
    expect(flags(spread(290, 301))).toEqual([])
  })

  test('an hour is compared with its time of day once that time was busy on seven days', () => {
    const busyAtNine = (days: number) =>
      hoursOf(days * 24, (at) => ({ credits: at % 24 === 9 ? 1_000 : 100 }))
    expect(flags(busyAtNine(7))).toEqual([])
    // Hours that come back on five days are usual before that.
    expect(flags(busyAtNine(5))).toEqual([])
    const [flag] = flags(busyAtNine(4))
    expect(flag).toMatchObject({
      count: 4,
      summary: '4 hours used far more than the median of the same time of day.',
    })
    expect(flag!.rows.map(({ atUs }) => atUs)).toEqual(
      [2, 3, 4, 5].map((day) => utc(2026, 11, day, 9)),
    )
    const night = hoursOf(7 * 24, (at) => (at % 24 < 12 ? { credits: 10 } : {}))
    expect(flags(night)).toEqual([])
    expect(
      flags([...night, ...hoursOf(169, (at) => ({ credits: at === 168 ? 240 : null })).slice(168)]),
    ).toMatchObject([{ kind: 'unusual-hour', count: 1 }])
  })

  test('the greatest excess comes first, and a small change of a quiet hour is none', () => {
    const days = (found: Readonly<Record<number, number>>) =>
      hoursOf(8 * 24, (at) => ({ credits: found[at] ?? (at % 24 < 4 ? 4 : 90) }))
    const [flag, ...others] = flags(days({ 26: 180, 101: 150, 150: 599, 171: 350 }))
    expect(others).toEqual([])
    expect(flag!.rows.map(({ shows }) => shows)).toEqual([
      '599 credits, usually 90',
      '350 credits, usually 4',
    ])
    // Two in a hundred of a week are 250.
    expect(flags(days({ 26: 240 }))).toEqual([])
    expect(flags(days({ 26: 260 }))[0]!.rows[0]!.shows).toBe('260 credits, usually 4')
  })

  test('an hour of a part of a log is unusual by at least its credits, and no measure of what is usual', () => {
    const days = (open: (at: number) => boolean) =>
      hoursOf(4 * 24, (at) => ({ credits: at === 70 ? 599 : open(at) ? 20 : 100, open: open(at) }))
    const shown = (open: (at: number) => boolean) =>
      flags(days(open)).flatMap(({ kind, rows }) => rows.map(({ shows }) => [kind, shows]))
    expect(shown((at) => at >= 48)).toEqual([['unusual-hour', 'at least 599 credits, usually 100']])
    // The whole log is a part: its hours are all that there is to compare with.
    expect(shown(() => true)).toEqual([['unusual-hour', 'at least 599 credits, usually 20']])
    expect(shown(() => false)).toEqual([['unusual-hour', '599 credits, usually 100']])
    const failing = hoursOf(30, (at) => ({ failed: at === 29 ? 60 : 0, open: at === 29 }))
    expect(flags(failing)).toEqual([])
  })

  test.each([23, 24])('an unusual hour needs 24 hours with credits: %i busy hours', (busy) => {
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
    // All others: 9 of 900 failed. Of 100, one is usual, and eight occur by chance once in 100,000
    // hours.
    { failed: 8, usual: 1, jump: false },
    { failed: 9, usual: 1, jump: true },
    // Without any other failure, one failure in all others counts as usual.
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
      'up to twice the usual share is no jump',
      { requests: 10_000, failed: 2_000 },
      { requests: 10_000, failed: 1_000 },
      0,
    ],
    [
      'more than twice the usual share is a jump',
      { requests: 10_000, failed: 2_001 },
      { requests: 10_000, failed: 1_000 },
      1,
    ],
    ['an hour of 19 requests is no jump', { requests: 19, failed: 19 }, {}, 0],
    ['an hour of 20 requests is a jump', { requests: 20, failed: 20 }, {}, 1],
    ['19 requests in all other hours are too few', { failed: 100 }, { requests: 1 }, 0],
  ])('errors: %s', (_, first, others, found) => {
    expect(withJump(first, others, 20)).toHaveLength(found)
  })

  test('a jump is flagged if all other hours have 20 requests together', () => {
    expect(withJump({ failed: 100 }, { requests: 1 }, 21)).toEqual([
      ['error-jump', '100.0 % of 100 failed'],
    ])
  })
})

describe('anomalies', () => {
  const kinds = async () =>
    (await readUsage(store, usageOptions())).anomalies.map(({ kind, count }) => [kind, count])

  test('are charges without success, successes without charge, and tokens over the limit', {
    tags: 'whole',
  }, async () => {
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

  test('are an hour far over the median, a jump of errors, and a new key, but not an even week', {
    tags: 'whole',
  }, async () => {
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

  test('the chance of a count is that of a Poisson distribution', () => {
    expect(chanceOfAtLeast(2, 1)).toBeCloseTo(1 - 2 / Math.E, 12)
    // From 700 on, where the exponential loses its digits, the bound of the normal tail applies.
    for (const mean of [700.5, 733, 742, 744.2, 744.5])
      expect([mean, chanceOfAtLeast(5 * mean, mean)]).toEqual([mean, 0])
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

  test('a balance that does not fall despite charges is flagged', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(
      store,
      Array.from({ length: 60 }, (_, at) =>
        attempt(at, { creditsRemaining: at < 25 ? 500 : 500 - at }),
      ),
    )
    expect(await kinds()).toEqual([['flat-remaining', 1]])
  })

  test('a balance that answers read at the same time show in turns is flat while it is the same', {
    tags: 'whole',
  }, async () => {
    await enterRun(store)
    // Ten polls, each of which read ten answers: the balance falls once, in the middle of a poll.
    const rows = Array.from({ length: 100 }, (_, at) =>
      attempt(at, {
        creditsRemaining: at < 55 ? 500 : 499,
        headersUs: Math.floor(at / 10) * 1e6,
      }),
    )
    // Threads write rows in any order.
    const mixed = rows.toSorted((a, b) => ((a.slot * 37) % 100) - ((b.slot * 37) % 100))
    await appendAttempts(store, mixed)
    const found = await flagged('flat-remaining')
    expect(found?.rows.map(({ id, shows }) => [id, shows])).toEqual([
      ['main at 500.0', '55 consecutive successes with an unchanged balance'],
      ['main at 499.0', '45 consecutive successes with an unchanged balance'],
    ])
  })

  const at = utc(2026, 11, 3)
  const flagged = async (kind: string, change: Partial<UsageOptions> = {}) =>
    (await readUsage(store, usageOptions(change))).anomalies.find((each) => each.kind === kind) ??
    null

  test('charged failures are shown with status and credits, up to five', {
    tags: 'whole',
  }, async () => {
    const failed = { outcome: 'http_error', credits: 2, source: 'log' }
    await enterEvents(store, [
      { ...failed, atUs: at, id: 'a', status: 500 },
      { ...failed, atUs: at, id: 'b', status: null, requests: 2_000 },
      { ...failed, atUs: at, id: 'c', credits: 0 },
      { atUs: at, id: 'd' },
      ...['e', 'f', 'g', 'h'].map((id, second) => ({
        ...failed,
        atUs: at + (second + 1) * 1e6,
        id,
        status: 503,
      })),
    ])
    const row = (id: string, seconds: number, status: string) => ({
      source: 'log',
      id,
      atUs: at + seconds * 1e6,
      shows: `status ${status}, charged 2.0`,
    })
    expect(await flagged('charge-without-success')).toEqual({
      kind: 'charge-without-success',
      count: 2_005,
      summary: '2,005 failed requests were charged.',
      rows: [
        row('a', 0, '500'),
        row('b', 0, 'unknown'),
        row('e', 1, '503'),
        row('f', 2, '503'),
        row('g', 3, '503'),
      ],
    })
  })

  test('a success without a charge is flagged if its model has a price', {
    tags: 'whole',
  }, async () => {
    const contract = {
      ...defaultContract,
      models: defaultContract.models.map((model) =>
        model.id === 'svc-k2-0905' ? { ...model, costCredits: 0 } : model,
      ),
    }
    await enterEvents(
      store,
      ['svc-k2', 'svc-k2-0905', 'unknown', null].map((model, second) => ({
        atUs: at + second * 1e6,
        id: `e${second}`,
        model,
        credits: 0,
      })),
    )
    await enterEvents(store, [
      { atUs: at, outcome: 'http_error', status: 500, credits: 0 },
      { atUs: at, credits: 1 },
    ])
    expect(await flagged('success-without-charge', { contract })).toEqual({
      kind: 'success-without-charge',
      count: 1,
      summary: '1 success on a priced model was charged nothing.',
      rows: [{ source: 'log', id: 'e0', atUs: at, shows: 'svc-k2, charged 0' }],
    })
  })

  test('tokens over a limit are flagged by the mean of a row', { tags: 'whole' }, async () => {
    const contract = {
      ...defaultContract,
      limits: { ...defaultContract.limits, maxInputTokens: 1_000, maxOutputTokens: 5_000 },
    }
    const none = { promptTokens: null, completionTokens: null }
    await enterEvents(
      store,
      [
        { ...none, completionTokens: 5_000 },
        { ...none, completionTokens: 5_001 },
        { ...none, promptTokens: 1_000 },
        { ...none, promptTokens: 1_001 },
        { ...none, promptTokens: 1_001, requests: 2 },
        { promptTokens: 2_002, completionTokens: 1, requests: 2 },
      ].map((event, number) => ({ atUs: at, id: `e${number}`, ...event })),
    )
    const flag = await flagged('tokens-over-limit', { contract })
    expect(flag).toMatchObject({
      count: 4,
      summary: '4 requests report more tokens than the limits of 1,000 in and 5,000 out.',
    })
    expect(flag!.rows.map(({ id, shows }) => [id, shows])).toEqual([
      ['e1', 'prompt -, completion 5001'],
      ['e3', 'prompt 1001, completion -'],
      ['e5', 'prompt 2002, completion 1'],
    ])
  })

  test('an hour is judged by the sum of its series, if all report credits', {
    tags: 'whole',
  }, async () => {
    const hour = (of: number) => at + of * 3600e6
    const spread = (of: number, credits: number | null) =>
      ['svc-k2', 'svc-k2.5'].map((model) => ({
        atUs: hour(of),
        model,
        credits: credits === null ? null : credits / 2,
        requests: 20,
      }))
    const failing = { outcome: 'http_error', credits: 0, requests: 4 }
    await enterEvents(store, [
      ...Array.from({ length: 30 }, (_, of) => spread(of, 100)).flat(),
      ...spread(30, 301),
      ...spread(31, 500).map((event, at) => (at === 0 ? { ...event, credits: null } : event)),
      ...['svc-k2', 'svc-k2.5'].flatMap((model) => [
        { ...failing, atUs: hour(10), model, status: 500 },
        { ...failing, atUs: hour(12), model, status: 429 },
      ]),
      // The last hour is open: no measure of others, and unusual by at least so much.
      { atUs: hour(32), credits: 900 },
    ])
    const shows = async (kind: string) =>
      (await flagged(kind))?.rows.map((row) => [(row.atUs - at) / 3600e6, row.shows])
    expect(await shows('unusual-hour')).toEqual([
      [32, 'at least 900 credits, usually 100'],
      [30, '301 credits, usually 100'],
    ])
    expect(await shows('error-jump')).toEqual([[10, '16.7 % of 48 failed']])
    expect(await shows('limit-jump')).toEqual([[12, '16.7 % of 48 were limited']])
  })

  test('a key is new if it first appears a day or more after usage began', {
    tags: 'whole',
  }, async () => {
    const dayUs = 86_400e6
    await enterEvents(store, [
      { atUs: at },
      { atUs: at + dayUs - 1, keyFp: 'early' },
      ...['g', 'f', 'e', 'd', 'c', 'b'].map((keyFp, second) => ({
        atUs: at + dayUs + second * 1e6,
        keyFp,
        requests: 3,
      })),
      { atUs: at + 2 * dayUs, keyFp: null },
    ])
    const flag = await flagged('new-key')
    expect(flag).toMatchObject({ count: 6, summary: '6 keys never seen before.' })
    expect(flag!.rows).toHaveLength(5)
    expect(flag!.rows[0]).toEqual({
      source: 'key',
      id: 'g',
      atUs: at + dayUs,
      shows: '3 requests in the period',
    })
    const [later] = [
      await flagged('new-key', { fromUs: at + dayUs, toUs: at + dayUs + 900e6, sources: ['log'] }),
    ]
    expect(later).toMatchObject({ count: 6 })
  })

  test('a single new key is described in the singular', async () => {
    await enterEvents(store, [{ atUs: at }, { atUs: at + 86_400e6, keyFp: 'fresh' }])
    expect(await flagged('new-key')).toMatchObject({ summary: '1 key never seen before.' })
  })

  test('a balance is flat after twenty paid successes in a row', { tags: 'whole' }, async () => {
    await enterRun(store)
    await enterRun(store, 'b')
    const free = { ...defaultContract.models[0]!, id: 'free', costCredits: 0 }
    const contract = { ...defaultContract, models: [...defaultContract.models, free] }
    const row = (slot: number, creditsRemaining: number | null, change = {}) =>
      attempt(slot, { creditsRemaining, headersUs: slot * 1e6, ...change })
    const stretch = (from: number, count: number, remaining: number | null, change = {}) =>
      Array.from({ length: count }, (_, of) => row(from + of, remaining, change))
    await appendAttempts(store, [
      ...stretch(0, 19, 500),
      row(19, 499),
      // The balance is missing in between, and the stretch before does not count.
      ...stretch(20, 20, 500),
      ...stretch(40, 21, 400, { account: null }),
      ...stretch(100, 25, 300, { model: 'free' }),
      ...stretch(200, 25, 300, { outcome: 'http_error', status: 500 }),
      ...stretch(300, 25, 300, { endpoint: 'models' }),
      ...stretch(400, 25, null),
      ...stretch(0, 30, 500, { runId: 'b' }),
    ])
    const flag = await flagged('flat-remaining', { contract })
    expect(flag).toMatchObject({
      count: 3,
      summary: '3 series of successes did not change X-Credits-Remaining.',
    })
    expect(flag!.rows.map(({ source, id, shows }) => [source, id, shows])).toEqual([
      ['b', 'main at 500.0', '30 consecutive successes with an unchanged balance'],
      ['a', '0123456789ab at 400.0', '21 consecutive successes with an unchanged balance'],
      ['a', 'main at 500.0', '20 consecutive successes with an unchanged balance'],
    ])
    const own = await flagged('flat-remaining', { contract, runIds: ['a'] })
    expect(own?.rows.map(({ id, atUs }) => [id, atUs])).toEqual([
      ['0123456789ab at 400.0', novemberUs + 40e6 + 100_020],
      ['main at 500.0', novemberUs + 20e6 + 100_020],
    ])
  })

  test('an interval that differs is shown with its account and figures', {
    tags: 'whole',
  }, async () => {
    const rows = (seenAtMost: number) =>
      findAnomalies(store, { ...storeEngine, holdsRequests: false }, null, ['credits'], {
        ...judge([
          { account: 'k', fromUs: 1, toUs: 2, before: 0, after: 9, seen: 4, seenAtMost },
          { account: 'k', fromUs: 2, toUs: 3, before: 9, after: 9, seen: 0, seenAtMost: 0 },
        ]),
      })
    await enterEvents(store, [{ atUs: at }])
    await readUsageIn(store, usageOptions())
    expect(await rows(4)).toEqual([
      {
        kind: 'service-differs',
        count: 1,
        summary:
          '1 of 2 intervals differ: the service reported 9 credits, and this store saw 4. Traffic outside this store looks the same.',
        rows: [{ source: 'poll', id: 'k', atUs: 2, shows: 'service 9, seen 4' }],
      },
    ])
    expect((await rows(6))[0]!.rows[0]!.shows).toBe('service 9, seen 4 to 6')
  })
})
