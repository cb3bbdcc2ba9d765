import { expect, test } from 'vitest'
import { comingDays, knownTo, pastDays } from '../../../src/report/usage/days.ts'
import type { SeriesPoint, UsageScope } from '../../../src/report/usage/shape.ts'
import { utc } from '../usage-events.ts'

const hourUs = 3600e6

/** Sums of a day in UTC, of its series. */
const day = (of: number, credits: number | null, change: Partial<SeriesPoint> = {}) =>
  ({ startUs: utc(2026, 11, of), lengthS: 86_400, credits, ...change }) as SeriesPoint

const scopeOf = (
  sources: readonly { firstUs: number; lastUs: number; requests: number }[],
  change: Partial<UsageScope> = {},
) =>
  ({
    ...{ sources, timezone: 'UTC', units: ['credits'], nowUs: utc(2027, 1, 1) },
    ...change,
  }) as UsageScope
/** This many hours from 06:00 on 1 November, with one request in each. */
const hours = (count: number) => ({
  firstUs: utc(2026, 11, 1, 6),
  lastUs: utc(2026, 11, 1, 6) + (count - 1) * hourUs,
  requests: count,
})
/** After any silence, more of the log is to come. */
const pastOf = (days: readonly SeriesPoint[], scope: UsageScope) =>
  pastDays(days, scope, knownTo(scope, 0))
const sharesOf = (days: readonly SeriesPoint[], scope: UsageScope) =>
  pastOf(days, scope).map(({ credits, share }) => [credits, share])

test('days have the sum of their series, their weekday, and the share that was seen', () => {
  const days = [day(1, 3), day(1, 4), day(2, 5), day(3, 6)]
  expect(pastOf(days, scopeOf([hours(48)]))).toEqual([
    { startUs: utc(2026, 11, 1), weekday: 7, credits: 7, share: 0.75 },
    { startUs: utc(2026, 11, 2), weekday: 1, credits: 5, share: 1 },
    // To the hour after the last request, which is at 05:00.
    { startUs: utc(2026, 11, 3), weekday: 2, credits: 6, share: 0.25 },
  ])
})

test('a day with unknown credits of a series is left out', () => {
  expect(
    sharesOf([day(1, 3), day(2, null), day(2, 5), day(3, 1), day(3, null)], scopeOf([hours(48)])),
  ).toEqual([[3, 0.75]])
})

test('the last request lasts as long as the mean gap between requests, over all sources', () => {
  const two = [
    { firstUs: utc(2026, 11, 1), lastUs: utc(2026, 11, 1), requests: 1 },
    { firstUs: utc(2026, 11, 1), lastUs: utc(2026, 11, 1, 12), requests: 4 },
  ]
  // Three hours after noon.
  expect(sharesOf([day(1, 5)], scopeOf(two))).toEqual([[5, 15 / 24]])
  expect(sharesOf([day(1, 5)], scopeOf(two, { nowUs: utc(2026, 11, 1, 14) }))).toEqual([
    [5, 14 / 24],
  ])
  const later = { firstUs: utc(2026, 11, 1, 18), lastUs: utc(2026, 11, 1, 18), requests: 0 }
  // Of five requests in 18 hours the last one lasts for 4.5 more.
  expect(sharesOf([day(1, 5)], scopeOf([...two, later]))).toEqual([[5, 22.5 / 24]])
  const one = [{ firstUs: utc(2026, 11, 1), lastUs: utc(2026, 11, 1, 12), requests: 1 }]
  expect(sharesOf([day(1, 5)], scopeOf(one))).toEqual([[5, 1]])
  const three = [{ ...one[0]!, requests: 3 }]
  expect(sharesOf([day(1, 5)], scopeOf(three))).toEqual([[5, 18 / 24]])
})

test.each([
  // A silence as long as one before, or of at most a day four times as long, is no sign that use is missing.
  { longest: 62, silent: 62, known: 'now' },
  { longest: 62, silent: 63, known: 'the last hour' },
  { longest: 6, silent: 24, known: 'now' },
  { longest: 6, silent: 25, known: 'the last hour' },
  { longest: 0.5, silent: 2, known: 'now' },
  { longest: 0.5, silent: 3, known: 'the last hour' },
])(
  'after a silence of $silent hours, $longest before at most, use is known to $known',
  ({ longest, silent, known }) => {
    const source = hours(48)
    const scope = scopeOf([source], { nowUs: source.lastUs + silent * hourUs })
    expect(knownTo(scope, longest * hourUs)).toBe(
      known === 'now' ? scope.nowUs : source.lastUs + hourUs,
    )
  },
)

test.each([
  { fromS: 8, share: 1 },
  { fromS: 9, share: 1 - 9 / 86_400 },
])('a day seen from $fromS seconds on has a share of $share', ({ fromS, share }) => {
  const source = { firstUs: utc(2026, 11, 1) + fromS * 1e6, lastUs: utc(2026, 11, 3), requests: 9 }
  expect(sharesOf([day(1, 5)], scopeOf([source]))).toEqual([[5, share]])
})

test.each([
  { minutes: 28, found: 0 },
  { minutes: 29, found: 1 },
])('$minutes minutes of a day are enough: $found', ({ minutes, found }) => {
  const firstUs = utc(2026, 11, 2) - minutes * 60e6
  const source = { firstUs, lastUs: utc(2026, 11, 3), requests: 9 }
  expect(sharesOf([day(1, 5)], scopeOf([source]))).toHaveLength(found)
})

test('a day in which the period begins is the part from there on', () => {
  const half = day(1, 5, { startUs: utc(2026, 11, 1, 12), lengthS: 43_200 })
  const source = { firstUs: utc(2026, 10, 1), lastUs: utc(2026, 11, 9), requests: 9 }
  expect(pastOf([half], scopeOf([source]))).toEqual([
    { startUs: utc(2026, 11, 1), weekday: 7, credits: 5, share: 0.5 },
  ])
})

test('coming days begin now, and end at their midnights across a clock change', () => {
  const timezone = 'America/New_York'
  expect(comingDays(utc(2026, 11, 1, 5), timezone, 3)).toEqual([
    { startUs: utc(2026, 11, 1, 5), endUs: utc(2026, 11, 2, 5), weekday: 7, share: 24 / 25 },
    { startUs: utc(2026, 11, 2, 5), endUs: utc(2026, 11, 3, 5), weekday: 1, share: 1 },
    { startUs: utc(2026, 11, 3, 5), endUs: utc(2026, 11, 4, 5), weekday: 2, share: 1 },
  ])
  // The midnight of 6 September is skipped in Santiago, and no other one is.
  expect(comingDays(utc(2026, 9, 5, 4), 'America/Santiago', 3).map(({ endUs }) => endUs)).toEqual([
    utc(2026, 9, 6, 4),
    utc(2026, 9, 7, 3),
    utc(2026, 9, 8, 3),
  ])
})

test('without a cost of any request, no day has credits, not even one without requests', () => {
  expect(sharesOf([day(1, 0), day(2, 0)], scopeOf([hours(48)], { units: [] }))).toEqual([])
})
