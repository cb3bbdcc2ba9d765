import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseMoment } from '../../src/measure/usage/zone.ts'
import { renderFigure } from '../../src/report/figure.ts'
import { partsIn, rowsOf } from '../../src/report/page.ts'
import { parseKeyNames } from '../../src/report/usage/key-names.ts'
import { readUsage, readUsageIn } from '../../src/report/usage/read.ts'
import type { SeriesPoint } from '../../src/report/usage/shape.ts'
import { terminalUsage } from '../../src/report/usage/terminal.ts'
import { usageAnswer, usageCards } from '../../src/report/usage-page.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { tries } from '../nightly/tries.ts'
import { emptyStore, type Store } from '../store/opened.ts'
import { attempt, enterRun, novemberUs } from './attempts.ts'
import { enterEvents, usageOptions, utc } from './usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

const sum = (points: readonly SeriesPoint[], of: (point: SeriesPoint) => number | null) =>
  points.reduce((all, point) => all + (of(point) ?? 0), 0)
const zones = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/New_York',
  'Europe/Rome',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Pacific/Chatham',
]

describe('days and hours of a zone', () => {
  test('days, hours and cards have the same sum, and each day is the local calendar day', {
    tags: 'whole',
  }, async () => {
    const from = utc(2026, 10, 20)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...zones),
        fc.array(fc.integer({ min: 0, max: 20 * 86_400 }), { minLength: 1, maxLength: 60 }),
        async (timezone, seconds) => {
          await store.execute('DELETE FROM usage_events')
          const times = seconds.map((second) => from + second * 1e6)
          await enterEvents(
            store,
            times.map((atUs, at) => ({ atUs, credits: (at % 3) + 1 })),
          )
          const page = await readUsage(store, usageOptions({ timezone }))
          const total = times.reduce((all, _, at) => all + (at % 3) + 1, 0)
          expect(sum(page.days, (point) => point.credits)).toBe(total)
          expect(sum(page.hours, (point) => point.credits)).toBe(total)
          expect(page.cards[0]).toMatchObject({ name: 'credits', value: total })
          const clock = new Intl.DateTimeFormat('en-CA', { timeZone: timezone })
          const days = new Map<string, number>()
          for (const time of times) {
            const day = clock.format(time / 1000)
            days.set(day, (days.get(day) ?? 0) + 1)
          }
          expect(
            new Map(
              page.days
                .filter((point) => point.requests !== null && point.requests > 0)
                .map((point) => [point.label, point.requests]),
            ),
          ).toEqual(days)
          const lengths = new Map(page.days.map((day) => [day.startUs, day.lengthS]))
          expect([...lengths.values()].reduce((all, length) => all + length, 0)).toBe(
            (page.scope.toUs - page.scope.fromUs) / 1e6,
          )
        },
      ),
      { numRuns: tries(3, 30) },
    )
  })

  test('an axis of local time shows midnight at midnight on both sides of a clock change', {
    tags: 'whole',
  }, async () => {
    const hour = 3600e6
    const startUs = utc(2026, 10, 31, 4)
    await enterEvents(
      store,
      Array.from({ length: 60 }, (_, at) => ({ atUs: startUs + at * hour })),
    )
    await readUsageIn(store, usageOptions({ timezone: 'America/New_York' }))
    const rows = await store.rows<{ label: string; wall_ms: number }>(
      'SELECT label, wall_ms::DOUBLE AS wall_ms FROM usage_hours ORDER BY start_us',
    )
    const wallOf = (label: string) => {
      const row = rows.find((each) => each.label === label)
      return row === undefined ? null : new Date(row.wall_ms).toISOString().slice(0, 16)
    }
    expect(wallOf('2026-11-01 00:00 -04:00')).toBe('2026-11-01T00:00')
    expect(wallOf('2026-11-02 00:00 -05:00')).toBe('2026-11-02T00:00')
    // The repeated hour is two half hours, in order.
    expect(wallOf('2026-11-01 01:00 -04:00')).toBe('2026-11-01T01:00')
    expect(wallOf('2026-11-01 01:00 -05:00')).toBe('2026-11-01T01:30')
    expect(wallOf('2026-11-01 02:00 -05:00')).toBe('2026-11-01T02:00')
  })

  test('without --from the period begins with the first day of usage, at most 31 days back', {
    tags: 'whole',
  }, async () => {
    const days = (page: { readonly days: readonly SeriesPoint[] }) =>
      new Set(page.days.map((day) => day.label)).size
    await enterEvents(store, [{ atUs: utc(2026, 11, 20, 12) }, { atUs: utc(2026, 11, 22, 12) }])
    expect(days(await readUsage(store, usageOptions()))).toBe(3)
    await enterEvents(store, [{ atUs: utc(2026, 8, 1) }])
    expect(days(await readUsage(store, usageOptions()))).toBe(31)
  })

  test('the day of a clock change has 25 or 23 hours, and the repeated hour appears twice', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: utc(2026, 10, 31, 12) },
      { atUs: utc(2026, 11, 1, 5, 30) },
      { atUs: utc(2026, 11, 1, 6, 30) },
      { atUs: utc(2026, 11, 2, 12) },
    ])
    const autumn = await readUsage(store, usageOptions({ timezone: 'America/New_York' }))
    const day = autumn.days.find((each) => each.label === '2026-11-01')!
    expect(day).toMatchObject({ lengthS: 25 * 3600, requests: 2 })
    expect(
      autumn.hours
        .filter((hour) => hour.label.startsWith('2026-11-01 01:00'))
        .map((hour) => [hour.label, hour.requests]),
    ).toEqual([
      ['2026-11-01 01:00 -04:00', 1],
      ['2026-11-01 01:00 -05:00', 1],
    ])
    const spring = await readUsage(
      store,
      usageOptions({
        timezone: 'Europe/Rome',
        fromUs: parseMoment('2026-03-29', 'Europe/Rome'),
        toUs: parseMoment('2026-03-30', 'Europe/Rome'),
      }),
    )
    expect(spring.days[0]?.lengthS ?? 0).toBe(23 * 3600)
  })
})

describe('missing measurements', () => {
  test('a gap is 0 inside the covered time, null before and after, and the last bucket is open', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [{ atUs: utc(2026, 11, 3, 10) }, { atUs: utc(2026, 11, 5, 10, 5) }])
    const page = await readUsage(
      store,
      usageOptions({ fromUs: utc(2026, 11, 2), toUs: utc(2026, 11, 7) }),
    )
    expect(
      page.days.map(({ label, requests, credits, open }) => [label, requests, credits, open]),
    ).toEqual([
      ['2026-11-02', null, null, false],
      ['2026-11-03', 1, 1, false],
      ['2026-11-04', 0, 0, false],
      ['2026-11-05', 1, 1, true],
      ['2026-11-06', null, null, true],
    ])
  })

  test('requests without credits or tokens are counted as unmeasured, never as 0', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: utc(2026, 11, 3), credits: null, promptTokens: null },
      { atUs: utc(2026, 11, 4), credits: 2, promptTokens: 5, completionTokens: 7 },
      { atUs: utc(2026, 11, 5), outcome: 'http_error', status: 429, credits: 0, promptTokens: 99 },
    ])
    const page = await readUsage(store, usageOptions())
    expect(page.days.map((day) => day.credits).filter((credits) => credits !== 0)).toContain(null)
    const cards = Object.fromEntries(page.cards.map((card) => [card.name, card]))
    expect(cards.credits).toMatchObject({ value: 2, n: 2, unmeasured: 1 })
    expect(cards.requests).toMatchObject({ value: 3 })
    // Tokens are those of all requests that report them, the failed one too; its 99 + 20 count.
    expect(cards.tokens).toMatchObject({ value: 151, n: 2, unmeasured: 1 })
    expect(cards.averageTokens).toMatchObject({ value: 12, n: 1 })
    const terminal = terminalUsage(page)
    expect(terminal).toContain('of 1 of 2 successes')
    expect(terminal).toContain('of 2 of 3 requests')
  })

  test('the average is the sum over the number of successes, not a mean of means', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: utc(2026, 11, 3), promptTokens: 100, completionTokens: 0 },
      ...Array.from({ length: 9 }, () => ({
        atUs: utc(2026, 11, 4),
        promptTokens: 10,
        completionTokens: 0,
      })),
    ])
    const page = await readUsage(store, usageOptions())
    expect(page.cards[3]).toMatchObject({ name: 'averageTokens', value: 19, n: 10 })
  })

  test('rows with only one kind of token are not in the average', { tags: 'whole' }, async () => {
    await enterEvents(
      store,
      Array.from({ length: 100 }, (_, at) => ({
        atUs: utc(2026, 11, 3) + at * 60e6,
        promptTokens: 1_000,
        completionTokens: at === 0 ? 10 : null,
      })),
    )
    const page = await readUsage(store, usageOptions())
    expect(page.cards[2]).toMatchObject({ name: 'tokens', value: 100_010 })
    expect(page.cards[3]).toMatchObject({
      name: 'averageTokens',
      value: 1_010,
      n: 1,
      unmeasured: 99,
    })
    expect(page.days[0]).toMatchObject({ promptTokens: 100_000, completionTokens: 10 })
  })

  test('cached tokens are the sum of the reported ones, and null if none are reported', {
    tags: 'whole',
  }, async () => {
    const at = utc(2026, 11, 3, 10)
    await enterEvents(store, [
      { atUs: at, cachedTokens: 8 },
      { atUs: at + 60e6, cachedTokens: 0 },
      { atUs: at + 86_400e6, keyFp: 'k2' },
    ])
    const page = await readUsage(store, usageOptions({ by: 'key' }))
    const told = page.days.filter(({ ok }) => ok !== null && ok > 0)
    expect(told.map(({ series, cachedTokens }) => [series, cachedTokens])).toEqual([
      ['k1', 8],
      ['k2', null],
    ])
    expect(page.topKeys.map(({ keyFp, cachedTokens }) => [keyFp, cachedTokens])).toEqual([
      ['k1', 8],
      ['k2', null],
    ])
    const text = terminalUsage(page)
    expect(text).toMatch(
      /tokens in +cached +tokens out\nk1 +2 +2 +20 +8 +40\nk2 +1 +1 +10 +- +20\n/,
    )
  })

  test('a row that stands for many requests counts as many', { tags: 'whole' }, async () => {
    const at = utc(2026, 11, 3, 10)
    await enterEvents(store, [
      { atUs: at, requests: 40, credits: 80, promptTokens: 400, completionTokens: 800 },
      { atUs: at + 60e6, requests: 10, outcome: 'http_error', status: 429, credits: 0 },
      { atUs: at + 120e6, credits: null, promptTokens: null },
    ])
    const page = await readUsage(store, usageOptions())
    expect(page.scope.sources[0]).toMatchObject({ requests: 51 })
    expect(
      page.cards.map(({ name, value, n, unmeasured }) => [name, value, n, unmeasured]),
    ).toEqual([
      ['credits', 80, 50, 1],
      ['requests', 51, 51, 0],
      ['tokens', 1_250, 50, 1],
      ['averageTokens', 30, 40, 1],
    ])
    expect(page.days[0]).toMatchObject({ requests: 51, ok: 41, limited: 10, credits: 80 })
    expect(page.topKeys[0]).toMatchObject({ requests: 51, ok: 41, failed: 10 })
    expect(page.peak).toEqual({ minute: 40, hour: 51, day: 51, unknown: null })
    expect(page.errors.map(({ error, count }) => [error, count])).toEqual([['429', 10]])
  })

  test('a running period is compared with the same part of the period before', {
    tags: 'whole',
  }, async () => {
    await enterEvents(
      store,
      Array.from({ length: 40 }, (_, day) => ({ atUs: utc(2026, 10, 1) + day * 86_400e6 })),
    )
    const page = await readUsage(
      store,
      usageOptions({ fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1) }),
    )
    // 1 to 9 November, compared with the first days of the previous 30, which begin on 2 October.
    expect(page.cards[1]).toMatchObject({ name: 'requests', value: 9, before: 9, change: 0 })
  })
})

test('a previous period that was not measured from its start is not compared', {
  tags: 'whole',
}, async () => {
  const days = (from: number, count: number) =>
    Array.from({ length: count }, (_, day) => ({ atUs: from + day * 86_400e6 }))
  await enterEvents(store, days(utc(2026, 10, 30), 30))
  const november = { fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1) }
  const { cards } = await readUsage(store, usageOptions(november))
  expect(cards.map(({ before, change }) => [before, change])).toEqual(cards.map(() => [null, null]))
  await enterEvents(store, days(utc(2026, 10, 2, 9), 28))
  const whole = await readUsage(store, usageOptions(november))
  expect(whole.cards[1]).toMatchObject({ name: 'requests', value: 28, before: 27 })
})

test('usage of an unknown service has no rate bands, packages or limits without a contract', {
  tags: 'whole',
}, async () => {
  await enterEvents(
    store,
    Array.from({ length: 10 * 24 }, (_, hour) => ({
      atUs: utc(2026, 11, 1) + hour * 3600e6,
      completionTokens: 2_000_000,
    })),
  )
  const grants = [{ name: 'held', credits: 100, expiresUs: null }]
  const page = await readUsage(store, usageOptions({ contract: null, grants }))
  expect(page).toMatchObject({ bandLosses: [], plan: null, anomalies: [] })
  expect(page.depletion).toMatchObject({ known: true, balance: 100 })
  expect(page.scope.notes.join()).toMatch(/no contract is given.*--contract FILE/)
  expect(terminalUsage(page)).not.toMatch(/^(buy|band)/m)
  const held = await readUsage(store, usageOptions({ grants }))
  expect(held.bandLosses.map(({ band }) => band)).toContain('1-100')
  expect(held.plan).toMatchObject({ known: true })
  expect(held.anomalies[0]).toMatchObject({ kind: 'tokens-over-limit', count: 240 })
  await store.execute('DELETE FROM usage_events')
  await enterRun(store)
  await appendAttempts(store, [attempt(0)])
  expect((await readUsage(store, usageOptions({ contract: null }))).plan).toEqual({
    known: false,
    summary: 'A plan needs a forecast.',
  })
})

test('by key and by endpoint, the largest seven are named and the rest is combined', {
  tags: 'whole',
}, async () => {
  await enterEvents(
    store,
    Array.from({ length: 12 }, (_, key) =>
      Array.from({ length: 12 - key }, () => ({
        atUs: utc(2026, 11, 3, key),
        keyFp: key === 11 ? null : `key${key}`,
        endpoint: key % 2 === 0 ? 'chat' : 'messages',
      })),
    ).flat(),
  )
  const byKey = await readUsage(store, usageOptions({ by: 'key' }))
  const names = [...new Set(byKey.hours.map((hour) => hour.series))]
  expect(names).toHaveLength(8)
  expect(sum(byKey.hours, (hour) => (hour.series === '(other)' ? hour.requests : 0))).toBe(15)
  expect(byKey.topKeys[0]).toMatchObject({ keyFp: 'key0', requests: 12, credits: 12 })
  expect(byKey.topKeys.at(-1)).toMatchObject({ keyFp: '(unknown)', requests: 1 })
  const byEndpoint = await readUsage(store, usageOptions({ by: 'endpoint' }))
  expect([...new Set(byEndpoint.days.map((day) => day.series))]).toEqual(['chat', 'messages'])
})

test('the peak is the busiest clock minute, hour and day of one key', {
  tags: 'whole',
}, async () => {
  const at = utc(2026, 11, 3, 10)
  await enterEvents(store, [
    ...Array.from({ length: 30 }, (_, second) => ({ atUs: at + second * 1e6 })),
    ...Array.from({ length: 20 }, (_, minute) => ({ atUs: at + (minute + 1) * 60e6 })),
    ...Array.from({ length: 45 }, (_, minute) => ({ atUs: at + minute * 60e6, keyFp: 'k2' })),
  ])
  expect((await readUsage(store, usageOptions())).peak).toEqual({
    minute: 30,
    hour: 50,
    day: 50,
    unknown: null,
  })
})

test('a store without usage, an unknown zone and an empty period are errors, not 0', async () => {
  await expect(readUsage(store, usageOptions())).rejects.toThrow(/holds no usage/)
  await expect(readUsage(store, usageOptions({ timezone: 'Mars' }))).rejects.toThrow(/IANA/)
  await enterEvents(store, [{ atUs: novemberUs }])
  await expect(
    readUsage(store, usageOptions({ fromUs: novemberUs, toUs: novemberUs })),
  ).rejects.toThrow(/is empty/)
})

test('hostile names stay data in queries, on the terminal and in CSV', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-hostile-'))
  const names = [
    `x'); DROP TABLE usage_events; --`,
    '\u001b[31m\u001b]0;title\u0007</script><script>',
    '=cmd()',
    'line\nbreak\ttab\u202e',
    // Longer ones are cut on their way into the store.
    'y'.repeat(200),
  ]
  await enterEvents(
    store,
    names.map((name, hour) => ({
      atUs: novemberUs + hour * 3600e6,
      id: name,
      source: name,
      model: name,
      keyFp: name,
      account: name,
      endpoint: name,
      // Each of them is reported as an anomaly with its id.
      outcome: 'http_error',
      credits: 1,
    })),
  )
  for (const by of ['model', 'key', 'endpoint'] as const) {
    const page = await readUsage(store, usageOptions({ by }))
    expect(new Set(page.days.map((day) => day.series))).toEqual(new Set(names))
    const text = terminalUsage(page)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may come through
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  }
  const only = await readUsage(
    store,
    usageOptions({ sources: [names[0]!, `'); DROP TABLE runs; --`] }),
  )
  expect(only.cards[1]!.value).toBe(1)
  const file = join(folder, 'usage.csv')
  expect(await exportTable(store, { what: 'usage', file, format: 'csv' })).toBe(names.length)
  expect(readFileSync(file, 'utf8')).not.toMatch(/(^|,)"?=cmd/m)
  expect(await store.rows('SELECT count(*) AS n FROM usage_events')).toEqual([{ n: names.length }])
  rmSync(folder, { recursive: true })
})

describe('a log that begins and ends within a day', () => {
  const grants = [{ name: 'held', credits: 9_600, expiresUs: null }]
  const enterHours = (fromUs: number, hours: number) =>
    enterEvents(
      store,
      Array.from({ length: hours }, (_, hour) => ({ atUs: fromUs + hour * 3600e6, credits: 40 })),
    )

  test('an even burn that begins at 23:00 is even, and so is the monthly need', {
    tags: 'whole',
  }, async () => {
    await enterHours(utc(2026, 11, 1, 23), 7 * 24)
    const nowUs = utc(2026, 11, 8, 23)
    const page = await readUsage(store, usageOptions({ nowUs, grants }))
    if (!page.forecast.known || !page.depletion.known) throw new Error('no forecast')
    const { lowPerDay, medianPerDay, highPerDay } = page.forecast
    for (const each of [lowPerDay, medianPerDay, highPerDay]) expect(each).toBeCloseTo(960, 3)
    if (!page.plan?.known) throw new Error('no plan')
    // Thirty local days from 23:00 on: 29 days and an hour, less what is held.
    expect(page.plan.needCredits).toBeCloseTo(29 * 960 + 40 - 9_600, 1)
    const { earlyUs, medianUs, lateUs } = page.depletion.runsOut
    for (const each of [earlyUs, medianUs, lateUs]) {
      expect((each! - utc(2026, 11, 18, 23)) / 3600e6).toBeCloseTo(0, 2)
    }
  })

  test('a date that has passed is described as passed', { tags: 'whole' }, async () => {
    await enterHours(utc(2026, 11, 1, 23), 7 * 24)
    const nowUs = utc(2026, 12, 24)
    const page = await readUsage(store, usageOptions({ nowUs, grants }))
    expect(terminalUsage(page).replaceAll(/\s+/g, ' ')).toContain(
      'At that rate they have run out: the last usage was 45 days ago.',
    )
    expect(usageAnswer(page).summary).toMatch(/^The credits ran out about .*, if usage continued$/)
  })

  test('credits that expire unused come first in the answer, before the end of the rest', {
    tags: 'whole',
  }, async () => {
    await enterHours(utc(2026, 11, 1), 14 * 24)
    const page = await readUsage(
      store,
      usageOptions({
        nowUs: utc(2026, 11, 15),
        grants: [
          { name: 'small', credits: 20_000, expiresUs: utc(2026, 11, 20) },
          { name: 'large', credits: 60_000, expiresUs: null },
        ],
      }),
    )
    const answer = usageAnswer(page)
    // Five days of 960 are taken from the first grant.
    expect(answer.summary).toBe('15,200 credits expire unused on Fri 20 Nov')
    expect(answer.because).toContain('The credits run out about Thu 21 Jan 2027.')
    expect(answer.tone).toBe('warn')
    const bands = answer.checks.filter(({ name }) => name === 'Rate bands are lost:')
    expect(bands.map(({ figure }) => figure)).toHaveLength(1)
  })

  test('the terminal lists the split of --by, with tokens in and out', {
    tags: 'whole',
  }, async () => {
    await enterEvents(
      store,
      Array.from({ length: 48 }, (_, hour) => ({
        atUs: utc(2026, 11, 1, hour),
        credits: hour % 2 === 0 ? 5 : 1,
        keyFp: hour % 2 === 0 ? 'large' : 'small',
        promptTokens: 10,
        completionTokens: hour % 2 === 0 ? 20 : null,
      })),
    )
    const text = terminalUsage(await readUsage(store, usageOptions({ by: 'key' })))
    const lines = text.split('\n').map((line) => line.trim().split(/ {2,}/))
    const at = lines.findIndex(([first]) => first === 'key')
    expect(lines.slice(at, at + 3)).toEqual([
      ['key', 'requests', 'credits', 'tokens in', 'tokens out'],
      ['large', '24', '120', '240', '480'],
      ['small', '24', '24', '240', '-'],
    ])
  })

  test('named keys have their names in series, top keys and keys by model', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: utc(2026, 11, 1, 3), keyFp: '3f2a91c04d7e', model: 'svc-k2', credits: 4 },
      { atUs: utc(2026, 11, 1, 4), keyFp: '3f2a91c04d7e', model: 'svc-mini', credits: 2 },
      { atUs: utc(2026, 11, 1, 5), keyFp: '0123456789ab', model: 'svc-k2', credits: 1 },
    ])
    const keyNames = parseKeyNames('3f2a91c04d7e: billing (a1b2)\n', 'names.yaml')
    const page = await readUsageIn(store, usageOptions({ by: 'key', keyNames }))
    expect(new Set(page.days.map(({ series }) => series))).toEqual(
      new Set(['billing (a1b2)', '0123456789ab']),
    )
    expect(page.topKeys.map(({ keyFp, name }) => [keyFp, name])).toEqual([
      ['3f2a91c04d7e', 'billing (a1b2)'],
      ['0123456789ab', null],
    ])
    const pairs = partsIn(['usage']).find(({ name }) => name === '31-key-models')!
    expect((await rowsOf(store, pairs)).map((row) => [row.key, row.model, row.credits])).toEqual([
      ['billing (a1b2)', 'svc-k2', 4],
      ['billing (a1b2)', 'svc-mini', 2],
      ['0123456789ab', 'svc-k2', 1],
    ])
  })

  test('credits have a cost if a price is given, and no cost column otherwise', {
    tags: 'whole',
  }, async () => {
    await enterEvents(store, [
      { atUs: utc(2026, 11, 1, 3), keyFp: '3f2a91c04d7e', model: 'svc-k2', credits: 250 },
    ])
    const pairs = partsIn(['usage']).find(({ name }) => name === '31-key-models')!
    const shown = async (creditUsd: number | null) => {
      const page = await readUsageIn(store, usageOptions({ creditUsd }))
      const { body } = (await renderFigure(pairs, await rowsOf(store, pairs)))!
      const cost = /<th[^>]*>cost <small>USD/.test(body.text)
      const said = [usageCards(page).text, terminalUsage(page)].map((text) =>
        text.includes('$3.00 at 0.012 USD a credit'),
      )
      return [cost, body.text.includes('>3.00<'), ...said]
    }
    expect(await shown(0.012)).toEqual([true, true, true, true])
    expect(await shown(null)).toEqual([false, false, false, false])
  })
})
