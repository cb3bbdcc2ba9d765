import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { inFlight } from '../in-flight.ts'
import { verdictOver } from '../verdict-over.ts'

const shown = (remaining: number) => ({ rateLimit: 60, rateRemaining: remaining, rateReset: 30 })
const served = (slot: number, remaining: number, more: Partial<AttemptRow> = {}) =>
  inFlight(slot, slot, slot + 0.5, 300 - slot, { ...shown(remaining), ...more })
const refused = (slot: number, remaining: number, more: Partial<AttemptRow> = {}) =>
  inFlight(slot, slot, slot + 0.02, 298, {
    ...{ outcome: 'http_error', status: 429, errorShape: 'chat' },
    ...{ errorCode: 'rate_limit_exceeded', errorType: 'rate_limit_error' },
    ...shown(remaining),
    ...more,
  })
const decide = async (rows: readonly AttemptRow[], contract: Contract = defaultContract) =>
  (await verdictOver('RATE-10', rows, { contract })).verdict

const withTokens: Contract = {
  ...defaultContract,
  headers: { ...defaultContract.headers, tokenLimit: ['x-t'], tokenRemaining: ['x-r'] },
}
const tokens = (tokenRemaining: number | null) => ({ tokenLimit: 10_000, tokenRemaining })
const used = { promptTokens: 10, completionTokens: 50, totalTokens: 60, ...tokens(400) }

test('RATE-10: a 429 by a limit of tokens decides nothing', { tags: 'whole' }, async () => {
  const after = (last: Partial<AttemptRow>) =>
    decide([served(0, 59, used), served(1, 58, used), refused(2, 57, last)], withTokens)
  expect(await after(tokens(0))).toBe('not-observed')
  expect(await after(tokens(null))).toBe('not-observed')
  expect(await after({ ...tokens(9_000), errorCode: 'tokens_exceeded' })).toBe('not-observed')
  expect(await after(tokens(9_000))).toBe('fail')
})

test('RATE-10: a 429 for overload decides nothing, also if the contract has no word for it', {
  tags: 'whole',
}, async () => {
  const after = (last: Partial<AttemptRow>) =>
    decide([served(0, 59), served(1, 58), refused(2, 57, last)])
  expect(await after({ errorCode: 'engine_overloaded', errorType: 'overloaded_error' })).not.toBe(
    'fail',
  )
  expect(await after({ errorCode: 'insufficient_quota', errorType: 'billing' })).toBe(
    'not-observed',
  )
  expect(await after({})).toBe('fail')
})

test('RATE-10: a 429 that a limit in flight explains does not fail', async () => {
  const five = Array.from({ length: 5 }, (_, slot) =>
    inFlight(slot, slot / 10, slot / 10 + 3, 299 - slot, {
      ...shown(59 - slot),
      headersUs: slot * 1e5 + 2e4,
    }),
  )
  const rejected = { ...refused(5, 54), sentUs: 1e6, headersUs: 1.02e6, closedUs: 1.02e6 }
  const rows = [...five, rejected, served(6, 53)]
  const promised: Contract = {
    ...defaultContract,
    bands: defaultContract.bands!.map((band) => ({ ...band, inFlight: 5 })),
  }
  expect(await decide(rows, promised)).toBe('not-observed')
  expect(await decide(rows)).toBe('inconclusive')
  expect(await decide([...rows, refused(8, 52)])).toBe('fail')
})
