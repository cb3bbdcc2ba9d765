import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { prepareUsage } from '../../../src/report/usage/prepare.ts'
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

const prepare = (change: Partial<UsageOptions> = {}) => prepareUsage(store, usageOptions(change))
const at = utc(2026, 11, 3, 10)

describe('the scope', () => {
  test('it has the sources, and now is at least the last usage', { tags: 'whole' }, async () => {
    await enterEvents(store, [
      { atUs: at + 5, source: 'b', requests: 3 },
      { atUs: at + 7, source: 'b' },
      { atUs: at, source: 'a' },
    ])
    const own = { days: 'local', partial: null, widestS: null }
    expect(await prepare({ nowUs: at + 6.25, creditUsd: 0.5 })).toEqual({
      account: null,
      fromUs: utc(2026, 11, 3),
      toUs: utc(2026, 11, 4),
      timezone: 'UTC',
      by: 'model',
      nowUs: at + 8,
      sources: [
        { ...own, origin: 'import', source: 'a', requests: 1, firstUs: at, lastUs: at },
        { ...own, origin: 'import', source: 'b', requests: 4, firstUs: at + 5, lastUs: at + 7 },
      ],
      creditUsd: 0.5,
      ...{ unit: 'credits', units: ['credits'] },
      notes: [],
    })
    expect(await prepare({ nowUs: at + 9.25 })).toMatchObject({ nowUs: at + 9, creditUsd: null })
  })

  test.each<[string, Partial<UsageOptions>, number, number]>([
    ['neither end is given', {}, utc(2026, 11, 3), utc(2026, 11, 6)],
    ['only the start is given', { fromUs: utc(2026, 11, 1) }, utc(2026, 11, 1), utc(2026, 11, 6)],
    ['only the end is given', { toUs: utc(2026, 11, 4) }, utc(2026, 11, 3), utc(2026, 11, 4)],
    [
      'the end is where usage begins',
      { toUs: utc(2026, 11, 3) },
      utc(2026, 10, 3),
      utc(2026, 11, 3),
    ],
    [
      'the end is a month after the usage',
      { toUs: utc(2026, 12, 31) },
      utc(2026, 11, 30),
      utc(2026, 12, 31),
    ],
  ])('if %s, the period is the days of usage', async (_, change, fromUs, toUs) => {
    await enterEvents(store, [{ atUs: at }, { atUs: utc(2026, 11, 5, 23), source: 'b' }])
    expect(await prepare(change)).toMatchObject({ fromUs, toUs })
  })

  test.each<[number, number, RegExp]>([
    [at, at, /^The period from 2026-11-03T10:00:00.000Z to 2026-11-03T10:00:00.000Z is empty/],
    [at, at - 900e6, /is empty: --to must come after --from/],
    [at + 1e6, at + 900e6, /a period must begin and end on one/],
    [at, at + 901e6, /a period must begin and end on one/],
  ])('a period without a whole quarter is refused: %#', async (fromUs, toUs, summary) => {
    await enterEvents(store, [{ atUs: at }])
    await expect(prepare({ fromUs, toUs })).rejects.toThrow(summary)
  })

  test('a note names the logs that cover the time of any run', async () => {
    await enterRun(store)
    await enterRun(store, 'b', { startedAtUs: novemberUs + 100e6 })
    const first = attempt(10, { closedUs: 10e6, doneUs: 10e6 })
    const last = attempt(20, { closedUs: 20e6, doneUs: 20e6 })
    await appendAttempts(store, [first, last, { ...first, runId: 'b' }])
    await enterEvents(store, [
      { atUs: novemberUs + 5e6, source: 'before' },
      { atUs: novemberUs + 10e6, source: 'touches the first' },
      { atUs: novemberUs + 20e6, source: 'touches the last' },
      { atUs: novemberUs + 21e6, source: 'between' },
      { atUs: novemberUs + 110e6, source: 'touches b' },
    ])
    const { notes, sources } = await prepare()
    expect(
      sources
        .filter(({ origin }) => origin === 'run')
        .map(({ firstUs, lastUs }) => [firstUs - novemberUs, lastUs - novemberUs]),
    ).toEqual([
      [10e6, 20e6],
      [110e6, 110e6],
    ])
    expect(notes).toEqual([
      'The imported "touches the first", "touches the last", "touches b" and runs of this store cover the same time: requests in both count twice. Choose one with --source or by naming runs.',
    ])
  })

  const enterPart = (source: string, fromUs: number, toUs: number) =>
    store.execute(`INSERT INTO usage_imports
      VALUES (1, '${source}', 'part.jsonl', 'jsonl', '{}', 0, 2, 2, 0, 0, ${fromUs}, ${toUs}, true)`)

  test('a part of a log is a part of its own source, not of one that began before it', async () => {
    await enterEvents(store, [
      { atUs: at - 86_400e6, source: 'before' },
      { atUs: at, source: 'cut' },
      { atUs: at + 60e6, source: 'cut' },
    ])
    await enterPart('cut', at - 5e6, at + 60e6 + 1)
    const { sources } = await prepare()
    expect(sources.map(({ source, partial }) => [source, partial])).toEqual([
      ['before', null],
      ['cut', { fromUs: at, toUs: at + 60e6 + 1 }],
    ])
  })

  test.each([
    ['ends with the first use', -9, 0, null],
    ['has the first use alone', -9, 1, { fromUs: at, toUs: at + 1 }],
    ['has the last use alone', 60, 99, { fromUs: at + 60, toUs: at + 61 }],
    ['begins after the last use', 61, 99, null],
  ])(
    'a part of a log is open where its source has use: one that %s',
    async (_, from, to, partial) => {
      await enterEvents(store, [{ atUs: at }, { atUs: at + 60 }])
      await enterPart('log', at + from, at + to)
      await enterPart('without use', at, at + 99)
      const { sources } = await prepare()
      expect(sources.map((each) => [each.source, each.partial])).toEqual([['log', partial]])
    },
  )

  test('polls are sources if there is nothing else, and measure no requests', {
    tags: 'whole',
  }, async () => {
    const poll = (minutes: number, remaining: number | null, consumed: number | null, url = 'u') =>
      store.execute(
        `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, remaining, consumed)
         VALUES (${at + minutes * 60e6}, '${url}', 'k', 200, ${remaining}, ${consumed})`,
      )
    await poll(0, null, null)
    await poll(1, 5, null)
    await poll(2, null, 7)
    await poll(3, null, null)
    await poll(0.5, 1, 1, 'v')
    expect(await prepare()).toMatchObject({
      sources: [
        {
          days: 'local',
          widestS: null,
          partial: null,
          origin: 'poll',
          source: 'v',
          requests: 0,
          firstUs: at + 30e6,
          lastUs: at + 30e6,
        },
        {
          ...{ days: 'local', partial: null, widestS: null },
          origin: 'poll',
          source: 'u',
          requests: 0,
          firstUs: at + 60e6,
          lastUs: at + 120e6,
        },
      ],
    })
    expect(await store.rows('SELECT series, requests, credits, open FROM usage_days')).toEqual([
      { series: '(none)', requests: null, credits: null, open: true },
    ])
    await enterEvents(store, [{ atUs: at }])
    expect((await prepare()).sources).toHaveLength(1)
    expect(await store.rows('SELECT DISTINCT series FROM usage_days')).toEqual([
      { series: 'svc-k2' },
    ])
  })
})

describe('the period before', () => {
  const ny = 'America/New_York'
  const cases: readonly [
    string,
    Partial<UsageOptions>,
    number,
    number,
    readonly [number, number] | null,
  ][] = [
    [
      'a day of 25 hours is compared with one of 24',
      { timezone: ny, fromUs: utc(2026, 11, 1, 4), toUs: utc(2026, 11, 2, 5) },
      utc(2026, 10, 20),
      utc(2026, 11, 9),
      [utc(2026, 10, 31, 4), utc(2026, 11, 1, 4)],
    ],
    [
      'twelve hours are compared with twelve',
      { fromUs: utc(2026, 11, 3, 6), toUs: utc(2026, 11, 3, 18) },
      utc(2026, 10, 20),
      utc(2026, 11, 9),
      [utc(2026, 11, 2, 18), utc(2026, 11, 3, 6)],
    ],
    [
      'the elapsed part is rounded to a quarter',
      { fromUs: utc(2026, 11, 3), toUs: utc(2026, 11, 5) },
      utc(2026, 10, 20),
      utc(2026, 11, 3, 10, 1),
      [utc(2026, 11, 1), utc(2026, 11, 1, 10, 15)],
    ],
    [
      'a whole elapsed quarter is one quarter',
      { fromUs: utc(2026, 11, 3), toUs: utc(2026, 11, 5) },
      utc(2026, 10, 20),
      utc(2026, 11, 3, 10, 15) - 1,
      [utc(2026, 11, 1), utc(2026, 11, 1, 10, 15)],
    ],
    [
      'nothing of the period has elapsed',
      { fromUs: utc(2026, 11, 3), toUs: utc(2026, 11, 5) },
      utc(2026, 10, 20),
      utc(2026, 11, 2),
      [utc(2026, 11, 1), utc(2026, 11, 1)],
    ],
    [
      'up to a fiftieth may be missing',
      { fromUs: utc(2026, 11, 3), toUs: utc(2026, 11, 3, 5) },
      utc(2026, 11, 2, 19, 6),
      utc(2026, 11, 9),
      [utc(2026, 11, 2, 19), utc(2026, 11, 3)],
    ],
    [
      'more than a fiftieth may not be missing',
      { fromUs: utc(2026, 11, 3), toUs: utc(2026, 11, 3, 5) },
      utc(2026, 11, 2, 19, 7),
      utc(2026, 11, 9),
      null,
    ],
  ]
  test.each(cases)('%s', { tags: 'whole' }, async (...[, change, firstUs, lastUs, before]) => {
    await enterEvents(store, [{ atUs: firstUs }, { atUs: lastUs, source: 'other' }])
    await prepare(change)
    const [row] = await store.rows<{ a: number; b: number }>(
      `SELECT getvariable('usage_before_from') AS a, getvariable('usage_before_to') AS b`,
    )
    expect([row!.a, row!.b]).toEqual(before ?? [change.fromUs, change.fromUs])
  })
})

describe('sums', () => {
  test('a quarter, an hour and a day have the sums of every outcome', {
    tags: 'whole',
  }, async () => {
    const tokens = { promptTokens: 10, cachedTokens: 4, completionTokens: 20 }
    const failed = { outcome: 'http_error', credits: 0 }
    await enterEvents(
      store,
      [
        { status: 200, ...tokens },
        { status: null, ...tokens, promptTokens: 1, completionTokens: 2 },
        { ...failed, status: 429, ...tokens },
        { ...failed, status: 500, requests: 2, ...tokens },
        { outcome: 'broken', status: 429, credits: null },
        { outcome: 'timeout', status: null, credits: 3 },
        { outcome: 'aborted', status: 200, credits: null, requests: 4 },
      ].map((event) => ({ ...event, atUs: at })),
    )
    await enterEvents(store, [{ atUs: at + 1800e6, ...tokens }])
    await prepare()
    const names =
      'requests, ok, failed, limited, ambiguous, credits::DOUBLE, prompt_tokens, cached_tokens, completion_tokens'
    const rowsOf = async (table: string) =>
      (await store.rows(`SELECT ${names} FROM ${table} WHERE requests > 0`)).map((row) =>
        Object.values(row).map(Number),
      )
    const known = ', credits_known, both_tokens, tokens_known'
    expect(
      (await store.rows(`SELECT ${names}${known} FROM usage_quarters ORDER BY quarter`)).map(
        (row) => Object.values(row).map(Number),
      ),
    ).toEqual([
      [11, 2, 9, 2, 5, 5, 61, 16, 122, 6, 33, 11],
      [1, 1, 0, 0, 0, 1, 10, 4, 20, 1, 30, 1],
    ])
    const sums = [12, 3, 9, 2, 5, 6, 71, 20, 142]
    expect(await rowsOf('usage_hours')).toEqual([sums])
    expect(await rowsOf('usage_days')).toEqual([sums])
    expect(await rowsOf('usage_key_sums')).toEqual([sums])
  })

  test('an hour is open until its quarters are over and covered to their last microsecond', {
    tags: 'whole',
  }, async () => {
    const openHours = async (lastUs: number, nowUs: number) => {
      await store.execute('DELETE FROM usage_events')
      await enterEvents(store, [{ atUs: at }, { atUs: lastUs }])
      await prepare({ nowUs })
      const rows = await store.rows<{ start_us: number }>(
        'SELECT start_us FROM usage_hours WHERE open ORDER BY start_us LIMIT 1',
      )
      return (rows[0]!.start_us - at) / 3600e6
    }
    expect(await openHours(at + 2 * 3600e6 - 1, at + 9 * 3600e6)).toBe(2)
    expect(await openHours(at + 2 * 3600e6 - 2, at + 9 * 3600e6)).toBe(1)
    expect(await openHours(at + 2 * 3600e6, at + 9 * 3600e6)).toBe(2)
  })

  test('quarters have their local hour, weekday and offset', { tags: 'whole' }, async () => {
    await enterEvents(store, [{ atUs: at }])
    const first = async (timezone: string, fromUs: number) => {
      await prepare({ timezone, fromUs, toUs: fromUs + 3600e6 })
      const [row] = await store.rows(
        `SELECT hour_label, day_label, weekday, hour_of_day, hour_us::DOUBLE AS hour_us, day_us::DOUBLE AS day_us, wall_ms::DOUBLE AS wall_ms
         FROM usage_calendar ORDER BY quarter DESC LIMIT 1`,
      )
      return Object.values(row!)
    }
    expect(await first('UTC', at)).toEqual([
      '2026-11-03 10:00 +00:00',
      '2026-11-03',
      2,
      10,
      at,
      at,
      at / 1000,
    ])
    expect(await first('Asia/Kathmandu', at)).toEqual([
      '2026-11-03 16:00 +05:45',
      '2026-11-03',
      2,
      16,
      at + 900e6,
      at,
      Date.UTC(2026, 10, 3, 16),
    ])
    expect(await first('America/St_Johns', at)).toEqual([
      '2026-11-03 07:00 -03:30',
      '2026-11-03',
      2,
      7,
      at + 1800e6,
      at,
      Date.UTC(2026, 10, 3, 7),
    ])
  })

  test('quarters are covered from the first usage to the last', async () => {
    await enterEvents(store, [{ atUs: at + 901e6 }, { atUs: at + 2000e6 }])
    await prepare({ fromUs: at, toUs: at + 3600e6 })
    const rows = await store.rows<{ covered: boolean }>(
      'SELECT covered FROM usage_calendar ORDER BY quarter',
    )
    expect(rows.map(({ covered }) => covered)).toEqual([false, true, true, false])
  })

  test('a series that is only in the first quarter is in all hours, filled with 0', async () => {
    await enterEvents(store, [
      ...Array.from({ length: 20 }, (_, event) => ({
        atUs: at + 3600e6 * (event + 1),
        keyFp: `key${event % 9}`,
      })),
      { atUs: at, keyFp: 'rare' },
    ])
    await prepare({ by: 'key', fromUs: at })
    const rows = await store.rows<{ requests: number }>(
      `SELECT requests::DOUBLE AS requests FROM usage_hours WHERE series = '(other)' ORDER BY start_us LIMIT 3`,
    )
    expect(rows.map(({ requests }) => requests)).toEqual([1, 0, 0])
  })

  test('weekly means by hour leave out open hours and unknown credits', async () => {
    await enterEvents(store, [
      { atUs: at, credits: 4 },
      { atUs: at + 7 * 86_400e6, credits: 8, requests: 3, model: 'other' },
      { atUs: at + 3600e6, credits: null },
      { atUs: at + 3600e6, credits: 5, model: 'other' },
      { atUs: at + 7 * 86_400e6 + 3600e6, credits: 1 },
      { atUs: at + 7 * 86_400e6 + 7200e6, credits: 9 },
    ])
    await prepare()
    const rows = await store.rows(
      `SELECT hour_of_day, credits::DOUBLE AS credits, requests::DOUBLE AS requests, hours::DOUBLE AS hours
       FROM usage_week_hours WHERE weekday = 2 AND hour_of_day BETWEEN 9 AND 12 ORDER BY ALL`,
    )
    expect(rows.map((row) => Object.values(row))).toEqual([
      [9, 0, 0, 1],
      [10, 6, 2, 2],
      [11, 1, 1.5, 2],
      // The second one is open.
      [12, 0, 0, 1],
    ])
  })

  test('attempts of a run have the prices of the given contract', { tags: 'whole' }, async () => {
    await enterRun(store)
    await appendAttempts(store, [attempt(0)])
    const models = defaultContract.models.map((model) => ({ ...model, costCredits: 7 }))
    await prepare({ contract: { ...defaultContract, models } })
    expect(await store.rows('SELECT credits::DOUBLE AS credits FROM usage_key_sums')).toEqual([
      { credits: 7 },
    ])
    await prepare({ contract: null })
    expect(await store.rows('SELECT credits::DOUBLE AS credits FROM usage_key_sums')).toEqual([
      { credits: 1 },
    ])
  })

  test('keys have their given names', async () => {
    await enterEvents(store, [
      { atUs: at, keyFp: 'k1' },
      { atUs: at, keyFp: 'k2' },
    ])
    await prepare({ by: 'key', keyNames: { k1: 'billing' } })
    expect(await store.rows('SELECT DISTINCT series FROM usage_days ORDER BY series')).toEqual([
      { series: 'billing' },
      { series: 'k2' },
    ])
  })
})
