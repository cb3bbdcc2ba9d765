import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

const left = { outcome: 'aborted', reason: 'first-event', streamed: 1, contentEvents: 1 } as const

/** The rows of the drawing in docs/auditing.md, and the credits of D. */
const drawn = (ofD: 1 | 2): readonly AttemptRow[] => [
  read(0, 0, 100),
  read(1, 0.5, 100),
  inFlight(2, 1, 2, 99),
  inFlight(3, 1.5, 2.5, null, left),
  inFlight(4, 2.2, 3.5, 97),
  inFlight(5, 3, 4.5, 97 - ofD),
  read(6, 6, 97 - ofD),
]

test('in the drawn example, an abandoned stream fills one balance gap, and the other is a wrong charge', async () => {
  expect(await verdictOver('BILL-11', drawn(1))).toMatchObject({ verdict: 'pass' })
  expect(await verdictOver('BILL-11', drawn(2))).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('1 credit missing between 97 and 95'),
  })
})
