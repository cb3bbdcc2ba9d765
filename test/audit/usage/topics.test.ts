import { expect, test } from 'vitest'
import { verdictOn } from './answers.ts'

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

test('USE-01: a body with unknown words is not judged', async () => {
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
