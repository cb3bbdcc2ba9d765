import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { verdictOfAnswers, verdictOn } from './answers.ts'

test.each([
  {
    success: true,
    data: {
      usage: { daily: [], hourly: [], average_tokens_per_request: null },
      credits: { remaining: 97, consumed: 3 },
    },
  },
  { remaining: '97', consumed: '3', daily: [], hourly: [], average_tokens: '30.5' },
  {
    usage: { credits: 3, byDay: {}, byHour: {}, tokens: { average: 30 } },
    balance: { credits: 97 },
  },
])('USE-01: the five topics are found at any depth, as numbers or as text: %j', async (body) => {
  expect(await verdictOn('USE-01', body)).toMatchObject({ verdict: 'pass' })
})

test('USE-01: a service shows no more topics than its contract promises', async () => {
  const verdictBy = (promised: object, body: object) =>
    verdictOfAnswers(
      'USE-01',
      [{ path: '/user/credits', body }],
      parseContract(
        { extends: 'none', name: 'coins', paths: { credits: '/user/credits' }, ...promised },
        'coins',
      ),
    )
  const body = { coins_remaining: 97, coins_consumed: 3 }
  expect(await verdictBy({}, body)).toEqual({
    verdict: 'not-promised',
    promises: ['response_fields.credits'],
  })
  const two = { response_fields: { credits: ['remaining', 'by_day'] } }
  expect(await verdictBy(two, { ...body, daily: [] })).toMatchObject({ verdict: 'pass' })
  expect(await verdictBy(two, body)).toMatchObject({
    verdict: 'fail',
    observed: 'without usage by day',
  })
})

test('USE-01: a body with unknown words is not judged', { tags: 'whole' }, async () => {
  expect(await verdictOn('USE-01', { guthaben: 97, verbraucht: 3 })).toMatchObject({
    verdict: 'not-observed',
  })
})

test('USE-01: limits by day and hour and used tokens are not among the topics', async () => {
  const limits = { day: { limit: 5000, used: 12 }, hour: { limit: 500, used: 2 } }
  expect(await verdictOn('USE-01', { remaining: 97, tokens_used: 8, limits })).toMatchObject({
    verdict: 'fail',
    observed: 'without consumed, usage by day, usage by hour, average tokens',
  })
})

test.each([
  [
    'figures in short',
    { consumed: 5e-7, remaining: 97, days: [], hours: [], average_tokens: 30 },
    'pass',
  ],
  [
    'an amount with its unit',
    { consumed: '5 credits', remaining: 97, days: [], hours: [], average_tokens: 30 },
    'pass',
  ],
  [
    'lines named by their size',
    {
      consumed: 5,
      remaining: 97,
      usage: [{ bucket: 'day' }, { bucket: 'hour' }],
      average_tokens: 30,
    },
    'pass',
  ],
  [
    'words alone',
    { consumed: 5, remaining: 97, expires_in_days: 12, support_hours: '9-17', average_tokens: 30 },
    'fail',
  ],
] as const)('USE-01: %s', async (_, body, is) => {
  expect((await verdictOn('USE-01', body)).verdict).toBe(is)
})

test('USE-01: a long text that repeats a word of a topic is read at once', async () => {
  const body = { consumed: 5, note: 'avgtoken '.repeat(20_000) }
  expect((await verdictOn('USE-01', body)).verdict).toBe('fail')
})
