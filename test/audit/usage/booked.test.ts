import { expect, test } from 'vitest'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'
import { verdictOfAnswers, verdictOn } from './answers.ts'

/** When usage is booked: hours and days of other services, written in other ways than those of the reference service. */

const usage = { credits: 3, requests: 3 }
const at0930 = 'date: Thu, 01 Oct 2026 09:30:00 GMT'

test.each([
  ['a number beside its day', { date: '2026-10-01', hour: 18 }, { date: '2026-10-01', hour: 8 }],
  [
    'a text beside its day',
    { day: '2026-10-01', hour: '18:00' },
    { day: '2026-10-01', hour: '08' },
  ],
  ['Unix seconds', { start: 1_790_877_600 }, { start: 1_790_841_600 }],
  ['Unix milliseconds', { timestamp: 1_790_877_600_000 }, { timestamp: 1_790_841_600_000 }],
  ['Unix seconds as a text', { hour: '1790877600' }, { hour: '1790841600' }],
])(
  'USE-03: an hour of the future is found, written as %s',
  { tags: 'whole' },
  async (_, ahead, past) => {
    const verdictOf = async (hour: object) => {
      const body = {
        timezone: 'UTC',
        by_day: [{ date: '2026-10-01', ...usage }],
        by_hour: [{ ...hour, ...usage }],
      }
      const answer = { path: '/user/credits', body, headers: at0930 }
      return (await verdictOfAnswers('USE-03', [answer])).verdict
    }
    expect(await verdictOf(ahead)).toBe('fail')
    expect(await verdictOf(past)).toBe('pass')
  },
)

test.each([
  // 17:00 to 18:00 UTC is 02:00 to 03:00 of the next day in Tokyo.
  // The named zone may be that of the reader, and the days those of UTC.
  ['Asia/Tokyo', '2026-10-01T17:00:00Z', '2026-10-01', 'not-observed'],
  ['Asia/Tokyo', '2026-10-01T17:00:00Z', '2026-10-03', 'fail'],
  ['Asia/Tokyo', '2026-10-01T17:00:00Z', '2026-10-02', 'pass'],
  ['Asia/Tokyo', '2026-10-01T19:00:00+02:00', '2026-10-02', 'pass'],
  ['Asia/Tokyo', '2026-10-01T19:00:00+02:00', '2026-09-30', 'fail'],
  ['America/Los_Angeles', '2026-10-02T03:00:00Z', '2026-10-01', 'pass'],
  ['America/Los_Angeles', '2026-10-02T03:00:00Z', '2026-10-03', 'fail'],
  // A day of Kolkata begins within an hour of UTC: that hour is of two days.
  ['Asia/Kolkata', '2026-10-01T18:00:00Z', '2026-10-01', 'not-observed'],
  ['Asia/Kolkata', '2026-10-01T18:00:00Z', '2026-10-02', 'not-observed'],
  ['Asia/Kolkata', '2026-10-01T19:00:00Z', '2026-10-02', 'pass'],
] as const)(
  'USE-03: in zone %s, the hour %s on the day %s: %s',
  async (timezone, hour, date, is) => {
    const body = {
      timezone,
      by_day: [{ date, ...usage }],
      by_hour: [{ hour, ...usage }],
    }
    expect((await verdictOn('USE-03', body)).verdict).toBe(is)
  },
)

const daysOf = (credits: number) =>
  ['2026-10-01', '2026-10-02', '2026-10-03'].map((date) => ({ date, credits }))
const hoursOf = (credits: number) =>
  daysOf(credits).map((line) => ({ ...line, date: undefined, hour: `${line.date}T08:00:00Z` }))

test.each([
  ['model', { by_model: { small: { by_hour: hoursOf(2) }, big: { by_hour: hoursOf(3) } } }],
  ['key', { keys: { first: { hourly: hoursOf(2) } } }],
  ['endpoint', { endpoints: { chat: { hours: hoursOf(1) } } }],
  ['project', { projects: { p1: { hours: hoursOf(1) } } }],
])('USE-03: hours of one %s are not those of the days of all', async (_, part) => {
  expect((await verdictOn('USE-03', { by_day: daysOf(5), ...part })).verdict).toBe('not-observed')
})

test('USE-03: hours and days of the same key are compared', async () => {
  const body = { keys: { first: { daily: daysOf(5), hourly: hoursOf(4) } } }
  expect(await verdictOn('USE-03', body)).toMatchObject({
    verdict: 'fail',
    observed: '4 credits in the hours of 2026-10-02, 5 on that day',
  })
})

/** A read at half past the hour, two successes, and a read a minute later, which shows these lines beside a sum that is right. */
function bookedUnder(before: object, after: object, timezone?: string, hour = '09') {
  const read = { model: null, endpoint: 'credits', template: 0 } as const
  const chat = { model: 'svc-k2', template: 1 } as const
  const template = { runId: 'a', step: 's', headers: '{}', body: null }
  const bodies = [
    [0, `${hour}:30:00`, { timezone, consumed: 10, requests: 10, ...before }],
    [3, `${hour}:31:00`, { timezone, consumed: 12, requests: 12, ...after }],
  ] as const
  return verdictOver(
    'USE-04',
    [read, chat, chat, read].map((row, slot) =>
      attempt(slot, { ...row, creditsRemaining: [90, 89, 88, 88][slot]! }),
    ),
    {
      templates: [
        { ...template, template: 0, method: 'GET', path: '/user/credits' },
        { ...template, template: 1, method: 'POST', path: '/chat/completions' },
      ].map((each) => ({ ...each, maxTokens: null, n: null, promptHash: null })),
      bodies: bodies.map(([slot, time, body]) => ({
        ...{ runId: 'a', slot, retry: 0, truncated: false, body: JSON.stringify(body) },
        headers: `date: Thu, 01 Oct 2026 ${time} GMT`,
      })),
    },
  )
}

const of = (requests: number) => ({ requests, credits: requests })

test.each([
  ['the hour that is', 'by_hour', { hour: '2026-10-01T09:00:00Z' }, undefined, 'pass'],
  ['an hour that was over', 'by_hour', { hour: '2026-10-01T07:00:00Z' }, undefined, 'fail'],
  ['an hour of Tokyo that was over', 'by_hour', { hour: '2026-10-01 17:00' }, 'Asia/Tokyo', 'fail'],
  ['the hour of Tokyo', 'by_hour', { hour: '2026-10-01 18:00' }, 'Asia/Tokyo', 'pass'],
  ['an hour of some zone', 'by_hour', { hour: '2026-10-01 17:00' }, undefined, 'pass'],
  ['yesterday', 'by_day', { date: '2026-09-30' }, 'UTC', 'fail'],
  ['today', 'by_day', { date: '2026-10-01' }, 'UTC', 'pass'],
  ['yesterday, which no zone has any more', 'by_day', { date: '2026-09-29' }, undefined, 'fail'],
  ['yesterday, which some zone still has', 'by_day', { date: '2026-09-30' }, undefined, 'pass'],
] as const)(
  'USE-04: requests that are booked under %s',
  { tags: 'whole' },
  async (_, list, line, zone, is) => {
    const told = await bookedUnder(
      { [list]: [{ ...line, ...of(4) }] },
      { [list]: [{ ...line, ...of(6) }] },
      zone,
    )
    expect(told.verdict).toBe(is)
    if (told.verdict === 'fail')
      expect(told.observed).toMatch(/^2 requests were booked under .*over/)
  },
)

test('USE-04: a line that is new is booked with all that it has', { tags: 'whole' }, async () => {
  const line = { date: '2026-09-29', ...of(2) }
  const today = { date: '2026-10-01', ...of(10) }
  const told = await bookedUnder({ by_day: [today] }, { by_day: [line, today] }, 'UTC')
  expect(told).toMatchObject({ verdict: 'fail', observed: expect.stringContaining('2026-09-29') })
})

test('USE-04: what an earlier day gains beside other usage may be that of another time', {
  tags: 'whole',
}, async () => {
  const lines = (yesterday: number, today: number) => ({
    by_day: [
      { date: '2026-09-30', ...of(yesterday) },
      { date: '2026-10-01', ...of(today) },
    ],
  })
  expect((await bookedUnder(lines(4, 6), lines(5, 8), 'UTC')).verdict).toBe('pass')
})

test.each([
  ['midnight in Berlin, as UTC', '2026-09-30T22:00:00Z', 'pass'],
  ['midnight in Berlin, with its offset', '2026-10-01T00:00:00+02:00', 'pass'],
  ['midnight of UTC, which may be a date alone', '2026-10-01T00:00:00+00:00', 'pass'],
  ['a day that was over', '2026-09-29T22:00:00Z', 'fail'],
] as const)('USE-04: a day that begins at %s', async (_, date, is) => {
  const lines = [{ by_day: [{ date, ...of(4) }] }, { by_day: [{ date, ...of(6) }] }] as const
  expect((await bookedUnder(...lines, undefined, '13')).verdict).toBe(is)
})

test('USE-03: days that begin at midnight in Berlin are not the days of UTC', async () => {
  const body = {
    by_day: [30, 31].map((day) => ({ date: `2026-08-${day}T22:00:00Z`, ...usage })),
    by_hour: [30, 31].map((day) => ({ hour: `2026-08-${day}T23:00:00Z`, ...usage })),
  }
  expect((await verdictOn('USE-03', body)).verdict).toBe('not-observed')
})

test('USE-03: a day of the month beside an hour is not the hour', async () => {
  const body = {
    timezone: 'UTC',
    by_day: [{ date: '2026-10-01', ...usage }],
    by_hour: [{ date: '2026-10-01', day: 23, hour: 8, ...usage }],
  }
  const answer = { path: '/user/credits', body, headers: at0930 }
  expect((await verdictOfAnswers('USE-03', [answer])).verdict).toBe('pass')
})

test.each([
  ['of 23 hours', 1_774_738_800, '2026-03-29T21:00:00Z', '2026-03-29T22:00:00Z'],
  ['of 25 hours', 1_792_879_200, '2026-10-25T22:00:00Z', '2026-10-25T23:00:00Z'],
])(
  'USE-03: a day %s in Berlin has its hours, and not the next one',
  { tags: 'whole' },
  async (_, start, last, next) => {
    const verdictOf = async (hour: string) => {
      const timezone = 'Europe/Berlin'
      const body = { timezone, by_day: [{ start, ...usage }], by_hour: [{ hour, ...usage }] }
      return (await verdictOn('USE-03', body)).verdict
    }
    expect(await verdictOf(last)).toBe('pass')
    expect(await verdictOf(next)).toBe('not-observed')
  },
)
