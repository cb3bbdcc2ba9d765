import { expect, test } from 'vitest'
import type { Exchange } from '../../../src/audit/evidence/exchange.ts'
import { readReport } from '../../../src/audit/evidence/usage/reports.ts'
import { verdictOfAnswers, verdictOn } from './answers.ts'

const none = {} as Exchange

/** Bodies of other services, which §4.4 leaves open (G-09), and the contradictions in them. */
const days = (count: number, line: object) =>
  Array.from({ length: count }, (_, at) => ({
    date: new Date(Date.UTC(2026, 9, 1 + at)).toISOString().slice(0, 10),
    ...line,
  }))
const hours = (fromDay: number, count: number, line: object) =>
  Array.from({ length: count }, (_, at) => ({
    start: new Date(Date.UTC(2026, 9, fromDay, at)).toISOString(),
    ...line,
  }))

test.each([
  ['purchases are not all grants', [{ purchased: 0, consumed: 3, remaining: 97 }]],
  ['one of several grants', [{ granted_free: 100, granted: 50, consumed: 3, remaining: 147 }]],
  [
    'purchases are listed separately from grants',
    [{ granted: 100, purchased: 500, consumed: 3, remaining: 597 }],
  ],
  [
    'credits that expired',
    [
      { granted: 100, consumed: 3, remaining: 97 },
      { granted: 100, consumed: 3, remaining: 47 },
    ],
  ],
  [
    'a total that is the balance',
    [
      { total_credits: 97, consumed: 3, credits_left: 97 },
      { total_credits: 96, consumed: 4, credits_left: 96 },
    ],
  ],
])('USE-02: %s: no contradiction', async (_, bodies) => {
  expect((await verdictOn('USE-02', ...bodies)).verdict).not.toBe('fail')
})

test('USE-02: consumption that exceeds the fall of the balance is a contradiction', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOn(
    'USE-02',
    { data: { granted: 100, consumed: 3, remaining: 97 } },
    { data: { granted: 100, consumed: 9, remaining: 95 } },
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: 'consumed grew by 6 and remaining fell by 2, of the same 100 granted',
  })
})

test.each([
  [
    'windows of different length',
    {
      total_consumed: 5000,
      by_day: days(30, { credits: 30 }),
      by_hour: hours(30, 24, { credits: 1 }),
    },
  ],
  [
    'the figures of today, and limits',
    {
      total_consumed: 50,
      today: { requests: 5, credits: 7 },
      limits: { day: { limit: 5000, used: 12 }, hour: { limit: 500, used: 2 } },
      hourly: hours(30, 24, { credits: 1 }),
    },
  ],
  [
    'a total of the month, on an account older than the listed days',
    {
      created_at: '2026-01-01T00:00:00Z',
      consumed: 5000,
      by_day: days(3, { credits: 24 }),
      by_hour: hours(1, 72, { credits: 1 }),
    },
  ],
  [
    'hours in UTC, and days in another zone',
    {
      timezone: 'Asia/Tokyo',
      // Hours of UTC begin at nine in Tokyo.
      by_day: days(3, { credits: 24 }).map((line, nth) =>
        nth === 0 ? { ...line, credits: 15 } : line,
      ),
      by_hour: hours(1, 72, { credits: 1 }),
    },
  ],
])('USE-03: %s: no contradiction', async (_, body) => {
  expect((await verdictOn('USE-03', body)).verdict).not.toBe('fail')
})

test('USE-03: a day with all of its hours must equal their sum', async () => {
  const body = { daily: days(3, { credits: 25 }), hourly: hours(1, 72, { credits: 1 }) }
  expect(await verdictOn('USE-03', { data: { usage: body } })).toMatchObject({
    verdict: 'fail',
    observed: '24 credits in the hours of 2026-10-02, 25 on that day',
  })
})

test('USE-03: a day must not be less than some of its hours', async () => {
  const body = { daily: days(1, { credits: 5 }), hourly: hours(1, 6, { credits: 1 }) }
  expect(await verdictOn('USE-03', body)).toMatchObject({ verdict: 'fail' })
})

test('USE-03: days back to the start of the account must add up to its total', async () => {
  const body = { created_at: '2026-10-01T08:00:00Z', by_day: days(3, { credits: 24 }) }
  expect(await verdictOn('USE-03', { ...body, total_consumed: 80 })).toMatchObject({
    verdict: 'fail',
    observed: '72 credits by day since the account began, 80 in all',
  })
})

test.each([
  ['2026-10-01T09:00:00Z', 'pass'],
  ['2026-10-01T18:00:00Z', 'fail'],
  ['2026-10-01T18:00:00+09:00', 'pass'],
  // Without its zone, an hour may be in any zone.
  ['2026-10-01 22:00', 'pass'],
  ['2026-10-02 09:00', 'fail'],
] as const)('USE-03: an hour of %s in an answer at 09:30 UTC: %s', async (hour, expected) => {
  const by_day = [{ date: hour.slice(0, 10), credits: 3 }]
  const answer = {
    path: '/user/credits',
    body: { by_day, by_hour: [{ hour, credits: 3 }] },
    headers: 'date: Thu, 01 Oct 2026 09:30:00 GMT',
  }
  expect((await verdictOfAnswers('USE-03', [answer])).verdict).toBe(expected)
})

test.each([
  ['UTC', '2026-10-02', 'fail'],
  ['UTC', '2026-10-01', 'pass'],
  ['Asia/Tokyo', '2026-10-02', 'pass'],
  ['Asia/Tokyo', '2026-10-03', 'fail'],
  // Without a zone that is known, tomorrow may have begun somewhere.
  ['Mars', '2026-10-02', 'pass'],
  [undefined, '2026-10-02', 'pass'],
  [undefined, '2026-10-03', 'fail'],
] as const)(
  'USE-03: in zone %s, all usage on %s at 18:00 UTC: %s',
  async (timezone, date, expected) => {
    const answer = {
      path: '/user/credits',
      body: { timezone, total_consumed: 3, by_day: [{ date, credits: 3 }] },
      headers: 'date: Thu, 01 Oct 2026 18:00:00 GMT',
    }
    const { verdict } = await verdictOfAnswers('USE-03', [answer])
    expect(verdict === 'fail' ? 'fail' : 'pass').toBe(expected)
  },
)

test('USE-03: hours with all requests of a day must have all of its credits', async () => {
  const answer = (requests: number) => ({
    by_day: [{ date: '2026-10-01', credits: 5, requests: 4 }],
    by_hour: [{ start: '2026-10-01T08:00:00Z', credits: 4, requests }],
  })
  expect(await verdictOn('USE-03', answer(4))).toMatchObject({
    verdict: 'fail',
    observed: '4 credits in the hours of 2026-10-01, 5 on that day',
  })
  expect((await verdictOn('USE-03', answer(3))).verdict).toBe('pass')
})

test.each([
  // All usage is under a day that is not that of its hours, whatever the time.
  ['2026-10-02', 'T00:00:00Z', 'credits in hours of 2026-10-01, which is no day of the list'],
  ['2026-10-02', 'T23:00:00Z', 'credits in hours of 2026-10-01, which is no day of the list'],
  ['2026-09-30', ' 12:00', 'credits in hours of 2026-10-01, which is no day of the list'],
  ['2026-10-01', 'T12:00:00Z', null],
] as const)('USE-03: all usage on %s, in hours of 2026-10-01%s', async (date, time, observed) => {
  const usage = { credits: 3, requests: 3 }
  const told = await verdictOn('USE-03', {
    by_day: [{ date, ...usage }],
    by_hour: [{ hour: `2026-10-01${time}`, ...usage }],
  })
  expect(told).toMatchObject(
    observed === null ? { verdict: 'pass' } : { verdict: 'fail', observed },
  )
})

test('USE-03: hours of some requests say nothing of the days of others', async () => {
  const told = await verdictOn('USE-03', {
    by_day: [{ date: '2026-09-30', credits: 5, requests: 5 }],
    by_hour: [{ hour: '2026-10-01T08:00:00Z', credits: 3, requests: 3 }],
  })
  expect(told.verdict).toBe('not-observed')
})

test('USE-03: an hour without usage may be in the future', async () => {
  const answer = {
    path: '/user/credits',
    body: {
      by_day: [{ date: '2026-10-01', credits: 0 }],
      by_hour: [{ hour: '2026-10-01T23:00:00Z', credits: 0 }],
    },
    headers: 'date: Thu, 01 Oct 2026 09:30:00 GMT',
  }
  // Nothing is the sum of nothing.
  expect((await verdictOfAnswers('USE-03', [answer])).verdict).toBe('not-observed')
})

test('USE-03: hours of a day that the list omits are a contradiction', async () => {
  const listed = days(3, { credits: 24 }).filter((_, nth) => nth !== 1)
  const body = { by_day: listed, by_hour: hours(1, 72, { credits: 1 }) }
  expect(await verdictOn('USE-03', body)).toMatchObject({
    verdict: 'fail',
    observed: 'credits in hours of 2026-10-02, which is no day of the list',
  })
})

const line = { requests: 10, prompt_tokens: 100, completion_tokens: 200 }

test('USE-05: an all-time average need not match the last days', { tags: 'whole' }, async () => {
  const daily = days(30, line)
  for (const told of [{ requests: 9000 }, {}]) {
    const body = { ...told, average_tokens: 55, daily }
    expect((await verdictOn('USE-05', body)).verdict).toBe('not-observed')
  }
})

test('USE-05: an average over the requests of its days must match them', async () => {
  const body = { data: { requests: 300, average_tokens: 55, daily: days(30, line) } }
  expect(await verdictOn('USE-05', body)).toMatchObject({
    verdict: 'fail',
    observed: '55 for 9000 tokens of 300 requests (30.0)',
  })
})

test('USE-07: the used part of a limit may decrease', async () => {
  const told = (used: number) => ({ remaining: 50, limits: { day: { limit: 100, used } } })
  expect((await verdictOn('USE-07', told(12), told(2))).verdict).toBe('not-observed')
})

test.each([
  ['a total beside cached tokens', { cached_input_tokens: 30, total_tokens: 100 }, 'pass'],
  ['reasoning beside all output', { reasoning_output_tokens: 10 }, 'pass'],
  [
    'cached tokens, which may be a part of the input or stand beside it',
    { cached_input_tokens: 30 },
    'not-observed',
  ],
  ['no other tokens', {}, 'pass'],
] as const)('USE-05: tokens of a day with %s', async (_, others, is) => {
  const line = (requests: number, input: number) => ({
    ...others,
    ...{ requests, input_tokens: input, output_tokens: 40 },
    ...('total_tokens' in others && { total_tokens: input + 40 }),
  })
  const [first, second] = days(2, {})
  const body = {
    ...{ total_requests: 4, average_tokens: 230 },
    by_day: [
      { ...first, ...line(1, 60) },
      { ...second, ...line(3, 780) },
    ],
  }
  expect((await verdictOn('USE-05', body)).verdict).toBe(is)
})

test('USE-03: unused credits of a day are not used ones', async () => {
  const body = {
    by_day: days(1, { unused_credits: 9, used_credits: 24 }),
    by_hour: hours(1, 24, { credits: 1 }),
  }
  expect((await verdictOn('USE-03', body)).verdict).not.toBe('fail')
})

test.each([
  ['a threshold', { low_balance_threshold: 10, balance: 99 }],
  ['what it was', { opening_balance: 100, balance: 99 }],
  ['what is pending', { pending_balance: 0, balance: 99 }],
  ['a part', { free_remaining: 0, remaining: 99 }],
])('the balance beside %s is what is left', (_, body) => {
  const report = readReport(none, body, [])
  expect(report.remaining).toBe(99)
})

test('two amounts that may be left are none', () => {
  const report = readReport(none, { free_remaining: 0, paid_remaining: 99 }, [])
  expect(report.remaining).toBeNull()
})

test('times and failures are no credits and no requests', () => {
  const body = { last_used: 1_790_000_060, failed_request_count: 2, request_count: 9 }
  const averages = { average_input_tokens: 300, average_tokens_per_request: 775 }
  const report = readReport(none, { ...body, ...averages }, [])
  expect(report).toMatchObject({ consumed: null, requests: 9, averageTokens: 775 })
})

test('USE-05: an average that leaves its fraction out is right', { tags: 'whole' }, async () => {
  const [first, second] = days(2, {})
  const verdictOf = async (average: number) =>
    (
      await verdictOn('USE-05', {
        ...{ total_requests: 3, average_tokens: average },
        by_day: [
          { ...first, requests: 1, tokens: 1000 },
          { ...second, requests: 2, tokens: 1000 },
        ],
      })
    ).verdict
  expect(await verdictOf(666)).toBe('pass')
  expect(await verdictOf(665)).toBe('fail')
})

test('USE-03: sums of fractions are those of their decimals', async () => {
  const [day] = days(1, { credits: 0.3 })
  const lines = [0.1, 0.2].map((credits, at) => ({ start: `2026-10-01T0${at}:00:00Z`, credits }))
  expect((await verdictOn('USE-03', { by_day: [day], by_hour: lines })).verdict).toBe('pass')
})
