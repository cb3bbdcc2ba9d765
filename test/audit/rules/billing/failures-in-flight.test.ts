import { expect, test } from 'vitest'
import { inFlight, read } from '../../in-flight.ts'
import { verdictOver } from '../../verdict-over.ts'

const refused = (slot: number, fromS: number, toS: number) =>
  inFlight(slot, fromS, toS, null, { status: 400, outcome: 'http_error' })

/**
 * A refused request concurrent with a success, twice, where the stretch takes 2 credits; before
 * that, a lone success takes `alone`.
 */
const besideSuccesses = (alone: number) => [
  read(100, 0, 100),
  inFlight(0, 1, 2, 100 - alone),
  inFlight(1, 3, 5, 98 - alone),
  refused(2, 3.5, 4.5),
  read(5, 5.5, 98 - alone),
  inFlight(3, 6, 8, 96 - alone),
  refused(4, 6.5, 7.5),
  read(101, 9, 96 - alone),
]

test('refused requests are blamed for missing credits if that explains every stretch', async () => {
  expect(await verdictOver('BILL-05', besideSuccesses(1))).toMatchObject({
    verdict: 'fail',
    observed: '1 credit charged',
    witnesses: [{ slot: 2 }],
  })
})

test('refused requests are not blamed if a success alone also took too much', {
  tags: 'whole',
}, async () => {
  expect(await verdictOver('BILL-05', besideSuccesses(2))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('either may have been charged wrongly'),
  })
  expect(await verdictOver('BILL-10', besideSuccesses(2))).toMatchObject({ verdict: 'fail' })
})
