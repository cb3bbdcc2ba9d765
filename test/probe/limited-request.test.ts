import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { limitedRequestOf } from '../../src/probe/limited-request.ts'
import { attempt } from '../report/attempts.ts'

const most = Math.max(...defaultContract.models.map(({ costCredits }) => costCredits))

test.each([
  ['a model that the contract does not price', 'of-nobody'],
  ['an attempt without a model', null],
])('%s may cost as much as the dearest', (_, model) => {
  expect(most).toBeGreaterThan(1)
  const limited = limitedRequestOf(attempt(1, { model }), defaultContract, 1)
  expect(limited).toMatchObject({ decision: 'admitted', costCredits: most })
})

test('a 429 for want of credits is no rejection by a limit of requests', () => {
  const of = (errorCode: string) =>
    limitedRequestOf(
      attempt(1, { outcome: 'http_error', status: 429, errorCode }),
      defaultContract,
      1,
    ).decision
  expect(of('insufficient_quota')).toBe('refused')
  expect(of('rate_limit_exceeded')).toBe('rejected')
})
