import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** The verdict of BILL-07 on rows after an abandoned stream, which may be charged at any time. */
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

test('BILL-07: a charge for an earlier abandoned stream is not a second charge for the next stream', async () => {
  expect(await verdictOf(readWhileOpen(98))).toBe('not-observed')
})

test('BILL-07: a charge for a stream that the service cut off is not a second charge for the next stream', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(brokeOff(99))).toBe('not-observed')
})

test('BILL-07: consecutive streams that the service cut off must cost nothing', {
  tags: 'whole',
}, async () => {
  const alone = (rows: readonly AttemptRow[]) => verdictOver('BILL-07', [read(1, 2, 100), ...rows])
  const twice = [...brokeOff(100), inFlight(4, 6, 7, null, broken)]
  expect(await alone([...twice, read(5, 8, 100)])).toMatchObject({ verdict: 'pass' })
  expect(await alone([...twice, read(5, 8, 99)])).toMatchObject({ verdict: 'fail' })
})
