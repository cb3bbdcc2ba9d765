import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { LimitedRequest } from '../../src/limits/limited-request.ts'
import { algorithmOf } from '../../src/probe/questions/algorithm.ts'
import { retryAfterOf } from '../../src/probe/questions/limiter.ts'
import { arrivalOf } from '../limits/limited-requests.ts'

/** Requests a tenth of a second apart. */
const limitedRequestsOf = (each: readonly Partial<LimitedRequest>[]) =>
  each.map((change, slot) => arrivalOf(slot, slot * 1e5, slot * 1e5 + 5e4, change))

const admitted = (count: number, limit: number, remaining: number): Partial<LimitedRequest>[] =>
  Array.from({ length: count }, (_, nth) => ({ limit, remaining: remaining - nth }))
const rejected = (count: number, limit: number): Partial<LimitedRequest>[] =>
  Array.from({ length: count }, () => ({
    ...({ decision: 'rejected', status: 429, limit, remaining: 0 } as const),
  }))

const fits = (each: readonly Partial<LimitedRequest>[], limit: number, began = 0): unknown => {
  const answer = algorithmOf(
    { limited: limitedRequestsOf(each), contract: defaultContract },
    began,
    limit,
  )
  return 'why' in answer
    ? answer.why
    : [answer.status === 'answered' ? answer.is.algorithm : answer.between.algorithm].flat()
}

test('the count in a band before its edge was crossed is included', () => {
  // 101 credits: fifteen requests by a limit of 60, which also count for the limit of 20.
  const crossed = [...admitted(15, 60, 59), ...admitted(5, 20, 4), ...rejected(4, 20)]
  expect(fits(crossed, 60)).toEqual(expect.arrayContaining(['fixed-anchored', 'sliding-log']))
})

test('the count of an hour before the probe is included', () => {
  const used = [...admitted(10, 20, 19), ...rejected(4, 600)]
  expect(fits(used, 20)).toEqual(expect.arrayContaining(['fixed-anchored', 'sliding-log']))
})

test('the first answer after two minutes of rest shows the count of the minute', () => {
  const atRest = [...admitted(19, 20, 19), ...rejected(4, 20)]
  expect(fits(atRest, 20)).not.toContain('fixed-anchored')
  expect(fits([...admitted(20, 20, 19), ...rejected(4, 20)], 20)).toContain('fixed-anchored')
})

test.each([
  ['120', 'seconds'],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 'date'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 'date'],
  ['1.5', 'other'],
  ['-1', 'other'],
  ['+5', 'other'],
  ['10, 10', 'other'],
  ['120 ', 'other'],
])('Retry-After %j has the form %s', (value, form) => {
  const rejection = { status: 429, headers: new Map([['retry-after', value]]) }
  expect(retryAfterOf([rejection, rejection])).toMatchObject({ is: { form } })
})
