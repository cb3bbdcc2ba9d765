import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flightsOf, limitsInFlight } from '../../src/limits/in-flight.ts'
import { arrivalOf } from './limited-requests.ts'

const few = fc.nat({ max: 9 })
const anyRequests = fc
  .array(
    fc.record({
      fromUs: fc.nat({ max: 20 }),
      tookUs: few,
      closesUs: few,
      decision: fc.constantFrom('admitted', 'unknown', 'rejected'),
    }),
    { maxLength: 10 },
  )
  .map((given) =>
    given.map(({ fromUs, tookUs, closesUs, decision }, slot) =>
      arrivalOf(slot, fromUs, fromUs + tookUs, {
        decision,
        closedUs: fromUs + tookUs + closesUs,
      }),
    ),
  )

test('requests in flight at a decision are those that their times allow, and those that they demand', () => {
  fc.assert(
    fc.property(anyRequests, few, (requests, byUs) => {
      const flights = flightsOf(requests)
      for (const request of requests) {
        const others = requests.filter((each) => each !== request && each.decision !== 'rejected')
        expect(flights.atMost(request)).toBe(
          others.filter((each) => each.fromUs <= request.untilUs && each.closedUs >= request.fromUs)
            .length,
        )
        const surely = requests.filter(
          (each) =>
            each.decision !== 'rejected' &&
            each.untilUs < request.fromUs &&
            each.closedUs > request.untilUs + byUs,
        )
        const late = requests.filter(
          (each) =>
            each.decision !== 'rejected' &&
            each.untilUs >= request.fromUs &&
            each.closedUs <= request.untilUs + byUs,
        )
        expect(flights.atLeast(request, byUs)).toBe(Math.max(0, surely.length - late.length))
      }
    }),
    { numRuns: 300, seed: 1 },
  )
})

const flight = (slot: number, fromUs: number, closedUs: number, decision = 'admitted' as const) =>
  arrivalOf(slot, fromUs, fromUs + 1, { closedUs, decision })
const refused = (slot: number, fromUs: number) =>
  arrivalOf(slot, fromUs, fromUs + 1, { decision: 'rejected' })

test('the limits in flight lie between what was admitted beside others and what was refused', () => {
  const two = [flight(0, 0, 100), flight(1, 10, 100)]
  expect(limitsInFlight(two)).toBeNull()
  expect(limitsInFlight([...two, refused(2, 20)])).toEqual({ least: 2, most: 2 })
  expect(limitsInFlight([flight(0, 0, 100), refused(1, 20)])).toEqual({ least: 1, most: 1 })
  // Three were served at once, and one was refused beside two.
  expect(limitsInFlight([...two, refused(2, 20), flight(3, 30, 100)])).toBeNull()
  expect(limitsInFlight([refused(0, 20)])).toBeNull()
})
