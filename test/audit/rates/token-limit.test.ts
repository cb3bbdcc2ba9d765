import { expect, test } from 'vitest'
import type { Contract } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

const contract: Contract = {
  ...defaultContract,
  headers: {
    ...defaultContract.headers,
    tokenLimit: ['x-ratelimit-limit-tokens'],
    tokenRemaining: ['x-ratelimit-remaining-tokens'],
  },
}
const shown = (slot: number, tokenRemaining: number) =>
  attempt(slot, { tokenLimit: 10_000, tokenRemaining })

test('RATE-20: tokens that rise and fall within their limit pass', async () => {
  const rows = [10_000, 9_800, 0, 4_000].map((left, slot) => shown(slot, left))
  expect(await verdictOver('RATE-20', rows, { contract })).toMatchObject({
    ...{ verdict: 'pass', observations: 4 },
  })
})

test('RATE-20: more tokens than the limit fail, and fewer than none', async () => {
  const rows = [shown(0, 9_000), shown(1, 10_001), shown(2, -5)]
  expect(await verdictOver('RATE-20', rows, { contract })).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(/^(?:10001|-5) remaining of 10000 tokens; 2 of 3 break it$/),
  })
})

test('RATE-20: a part of a token breaks no limit, and a limit of 0 or below is none', async () => {
  const parts = [shown(0, 10_000.4), shown(1, -0.4)]
  expect(await verdictOver('RATE-20', parts, { contract })).toMatchObject({ verdict: 'pass' })
  const none = [0, -1].map((tokenLimit, slot) => attempt(slot, { tokenLimit, tokenRemaining: 500 }))
  expect(await verdictOver('RATE-20', none, { contract })).toMatchObject({
    verdict: 'not-observed',
  })
})

test('RATE-20: a contract without a limit of tokens does not promise it', async () => {
  expect(await verdictOver('RATE-20', [shown(0, -5)])).toEqual({
    verdict: 'not-promised',
    promises: ['headers.token_limit', 'headers.token_remaining'],
  })
})
