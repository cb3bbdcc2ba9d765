import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

const refused = { outcome: 'http_error', status: 400 } as const

/** Two workers in turn, each of which subtracts only its own charges from the 100 credits. */
const byWorkers: readonly AttemptRow[] = [
  read(0, 0, 100),
  inFlight(1, 1, 2, 99),
  read(2, 3, 100),
  inFlight(3, 4, 5, null, refused),
  read(4, 6, 99),
  read(5, 7, 100),
  inFlight(6, 8, 9, null, refused),
  read(7, 10, 99),
  read(8, 11, 100),
  read(9, 12, 100),
  read(10, 13, 100),
]

test('balances kept by each worker accuse no refused request of a charge', {
  tags: 'whole',
}, async () => {
  const failures = await verdictOver('BILL-05', byWorkers)
  expect(failures).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(
      'account main shows values that are not those of one balance: it rose 3 times, and nothing came in (BILL-11)',
    ),
  })
  expect((await verdictOver('BILL-11', byWorkers)).verdict).not.toBe('pass')
})

test('a charge for refused requests still fails where the balance only falls', async () => {
  const rows = [
    read(0, 0, 100),
    inFlight(1, 1, 2, 99, refused),
    read(2, 3, 99),
    inFlight(3, 4, 5, 98, refused),
    read(4, 6, 98),
  ]
  expect(await verdictOver('BILL-05', rows)).toMatchObject({ verdict: 'fail' })
})
