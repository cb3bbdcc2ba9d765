import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Verdict } from '../../src/audit/verdict.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Refusals near the end of a balance that a legal service may give, and those that it may not. */
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

test('BILL-14: a refusal for insufficient credits of what the balance covers is wrong', async () => {
  const rows = [read(0, 0, 1), inFlight(1, 1, 2, null, insufficient), read(2, 3, 1)]
  expect(await verdictOf('BILL-14', rows)).toBe('fail')
})

test('BILL-14: a 403 for a model that the key may not use says nothing of credits', async () => {
  const rows = [read(0, 0, 500), inFlight(1, 1, 2, 500, forbidden)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-14: a 403 whose body nobody can read says nothing of credits', async () => {
  const blocked = { outcome: 'http_error', status: 403 } as const
  const rows = [read(0, 0, 500), inFlight(1, 1, 2, null, blocked)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: a 403 for another reason refuses no request for its price', async () => {
  const rows = [read(0, 0, 0), inFlight(1, 1, 2, 0, forbidden)]
  expect(await verdictOf('BILL-13', rows)).toBe('not-observed')
})

test('BILL-14: a stream that was left before may take the last credit after it was read', async () => {
  const rows = [
    inFlight(0, 0, 1, null, aborted),
    read(1, 2, 1),
    inFlight(2, 3, 4, null, insufficient),
  ]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: a stream that was left before may give back the credit that it held', async () => {
  const rows = [inFlight(0, 0, 1, null, aborted), read(1, 2, 0), inFlight(2, 3, 4, 0)]
  expect(await verdictOf('BILL-13', rows)).toBe('not-observed')
})

test('BILL-14: a request in flight beside it may take the last credit first', async () => {
  const rows = [read(0, 0, 1), inFlight(1, 1, 3, null, insufficient), inFlight(2, 1.1, 2, 0)]
  expect(await verdictOf('BILL-14', rows)).toBe('not-observed')
})

test('BILL-13: one success at a balance of nothing is one too many', async () => {
  const rows = [read(0, 0, 0), inFlight(1, 1, 2, -1), read(2, 3, -1)]
  expect(await verdictOf('BILL-13', rows)).toBe('fail')
})
