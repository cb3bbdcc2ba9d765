import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Refusals near the end of a balance, legal and illegal. */
async function verdictOf(rule: string, rows: readonly AttemptRow[]): Promise<Verdict['verdict']> {
  return (await verdictOver(rule, rows)).verdict
}

const refused = { outcome: 'http_error', status: 403, errorShape: 'chat' } as const
const insufficient = {
  ...refused,
  errorCode: 'insufficient_credits',
  errorType: 'insufficient_quota',
} as const
const forbidden = { ...refused, errorCode: 'forbidden', errorType: 'permission_error' } as const
const aborted = { outcome: 'aborted', reason: 'first-event', streamed: 1 } as const

test('BILL-14: a refusal for insufficient credits fails if the balance covers the request', async () => {
  const rows = [read(0, 0, 1), inFlight(1, 1, 2, null, insufficient), read(2, 3, 1)]
  expect(await verdictOf('BILL-14', rows)).toBe('fail')
})

test('BILL-14: a 403 for a model that the key may not use is no evidence about credits', async () => {
  const rows = [read(0, 0, 500), inFlight(1, 1, 2, 500, forbidden)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-14: a 403 with an unreadable body is no evidence about credits', async () => {
  const blocked = { outcome: 'http_error', status: 403 } as const
  const rows = [read(0, 0, 500), inFlight(1, 1, 2, null, blocked)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: a 403 for another reason is not a refusal for the price', async () => {
  const rows = [read(0, 0, 0), inFlight(1, 1, 2, 0, forbidden)]
  expect(await verdictOf('BILL-13', rows)).toBe('not-observed')
})

test('BILL-14: an earlier aborted stream may take the last credit after the balance was read', async () => {
  const rows = [
    inFlight(0, 0, 1, null, aborted),
    read(1, 2, 1),
    inFlight(2, 3, 4, null, insufficient),
  ]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: an earlier aborted stream may return the credit that it held', async () => {
  const rows = [inFlight(0, 0, 1, null, aborted), read(1, 2, 0), inFlight(2, 3, 4, 0)]
  expect(await verdictOf('BILL-13', rows)).toBe('not-observed')
})

test('BILL-14: a concurrent request may take the last credit first', async () => {
  const rows = [read(0, 0, 1), inFlight(1, 1, 3, null, insufficient), inFlight(2, 1.1, 2, 0)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: a success at a balance of zero fails', { tags: 'whole' }, async () => {
  const rows = [read(0, 0, 0), inFlight(1, 1, 2, -1), read(2, 3, -1)]
  expect(await verdictOf('BILL-13', rows)).toBe('fail')
})

/** A request of a model that takes so many credits between two reads, then one of `svc-k2` that is refused at a balance of 1. */
const spentBy = (model: string, took: number) => [
  read(0, 0, 1 + took + 1),
  inFlight(1, 1, 2, null, { model }),
  read(2, 3, 2),
  inFlight(3, 4, 5, null),
  read(4, 6, 1),
  inFlight(5, 7, 8, null, insufficient),
  read(6, 9, 1),
]

test('BILL-14: another model that took too much is no reason to refuse a request that the balance covers', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf('BILL-14', spentBy('svc-k2.5', 3))).toBe('fail')
})

test('BILL-14: the same model that took too much leaves open what the balance covers', async () => {
  expect(await verdictOf('BILL-14', spentBy('svc-k2', 2))).toBe('inconclusive')
})
