import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { flags } from '../../../src/attempt/flags.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { verdictOver } from '../verdict-over.ts'
import { rowOf } from './evidence.ts'

/** Forms of resets and of Retry-After that honest services have, and faults beside them. */

const dateS = Date.UTC(2026, 0, 1) / 1000
const of = async (
  rule: string,
  rows: readonly AttemptRow[],
  contract: Contract = defaultContract,
  headers = '',
) => {
  const bodies = rows.map(({ runId, slot, retry }) => ({
    ...{ runId, slot, retry, headers, body: '', truncated: false },
  }))
  const verdict = await verdictOver(rule, rows, { contract, bodies: headers === '' ? [] : bodies })
  return verdict.verdict
}

test('RATE-19: a fraction of a second is no delta-seconds', async () => {
  const worded = flags.retryAfterNotSeconds
  const rows = [rowOf(0, 0, { status: 429, retryAfter: 1.5, flags: worded, dateS })]
  const judged = (value: string) => of('RATE-19', rows, defaultContract, `retry-after: ${value}\n`)
  expect(await judged('1.5')).toBe('fail')
  expect(await judged('Thu, 01 Jan 2026 00:00:02 GMT')).toBe('pass')
})

const shown = (slot: number, rateReset: number, more: Partial<AttemptRow> = {}) =>
  rowOf(slot, slot * 1000, {
    rateLimit: 60,
    rateRemaining: 50,
    rateReset,
    dateS: dateS + slot,
    ...more,
  })

test('RATE-12: Unix seconds of a time without a Date are left out', { tags: 'whole' }, async () => {
  const timed: Contract = { ...defaultContract, resetFormat: 'time' }
  const rows = [0, 1, 2].map((slot) => shown(slot, dateS + 60, { dateS: null }))
  expect(await of('RATE-12', rows, timed)).toBe('not-observed')
  expect(await of('RATE-12', rows)).toBe('pass')
})

test('RATE-12: a 0 beside epochs decides nothing where nothing was counted', {
  tags: 'whole',
}, async () => {
  const epochs = [0, 1, 2].map((slot) => shown(slot, dateS + 60))
  expect(await of('RATE-12', [...epochs, shown(3, 0, { rateRemaining: 60 })])).toBe('inconclusive')
  expect(await of('RATE-12', [...epochs, shown(3, 0)])).toBe('fail')
})

test('RATE-12: a reset that says its unit, such as 0.9s, is in seconds', async () => {
  const worded = flags.malformedRateReset
  const bucket = (more: Partial<AttemptRow>) =>
    [0.9, 0.4, 0.9, 0.2, 0.7].map((reset, slot) => shown(slot, reset, more))
  expect(await of('RATE-12', bucket({ flags: worded }))).toBe('pass')
  expect(await of('RATE-12', bucket({}))).toBe('inconclusive')
  const epochs: Contract = { ...defaultContract, resetFormat: 'epoch-s' }
  expect(await of('RATE-12', bucket({ flags: worded }), epochs)).toBe('fail')
  const far = [shown(0, 0.9, { flags: worded }), shown(1, 400_000, { flags: worded })]
  expect(await of('RATE-12', far)).toBe('fail')
})
