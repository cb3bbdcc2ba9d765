import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** What BILL-07 says of rows after a stream that its client left, which may be charged at any time. */
async function verdictOf(rows: readonly AttemptRow[]) {
  const left = { outcome: 'aborted', reason: 'first-event', streamed: 1 } as const
  return (await verdictOver('BILL-07', [inFlight(0, 0, 1, null, left), read(1, 2, 100), ...rows]))
    .verdict
}

/** A stream during which the balance is read, and a read after it. */
const readWhileOpen = (balanceAfter: number) => [
  inFlight(2, 3, 6, null, { streamed: 1 }),
  read(3, 4, 100),
  read(4, 8, balanceAfter),
]

const broken = { outcome: 'broken', reason: 'error-in-stream', streamed: 1 } as const
const brokeOff = (balanceAfter: number) => [
  inFlight(2, 3, 4, null, broken),
  read(3, 5, balanceAfter),
]

test('BILL-07: a charge for a stream that was left before is no second one for the stream after it', async () => {
  expect(await verdictOf(readWhileOpen(98))).not.toBe('fail')
})

test('BILL-07: nor is it one for a stream that the service broke off', async () => {
  expect(await verdictOf(brokeOff(99))).not.toBe('fail')
})

test('BILL-07: streams that the service broke off, one after the other, cost nothing', async () => {
  const alone = (rows: readonly AttemptRow[]) => verdictOver('BILL-07', [read(1, 2, 100), ...rows])
  const twice = [...brokeOff(100), inFlight(4, 6, 7, null, broken)]
  expect(await alone([...twice, read(5, 8, 100)])).toMatchObject({ verdict: 'pass' })
  expect(await alone([...twice, read(5, 8, 99)])).toMatchObject({ verdict: 'fail' })
})
