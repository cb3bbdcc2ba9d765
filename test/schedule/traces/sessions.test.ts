import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sessionsOf } from '../../../src/schedule/traces/sessions.ts'
import { plainRow, type TraceRequest } from '../../../src/schedule/traces/trace.ts'

/** A trace in order of time, whose requests wait for an earlier one or for none. */
const trace: fc.Arbitrary<readonly TraceRequest[]> = fc
  .array(
    fc.record({ gapUs: fc.nat(1000), waits: fc.boolean(), for: fc.nat(), serviceUs: fc.nat(800) }),
    { minLength: 1, maxLength: 40 },
  )
  .map((drawn) => {
    let atUs = 0
    return drawn.map(({ gapUs, waits, for: nth, serviceUs }, index) => {
      atUs += index === 0 ? 0 : gapUs
      const { time: _, ...row } = plainRow(0, 9, 1)
      const after = waits && index > 0 ? nth % index : null
      return { ...row, atUs, after, recorded: { serviceUs } }
    })
  })

test('every request of a trace is in one session, behind the one that it waits for, with its gap', () => {
  fc.assert(
    fc.property(
      trace,
      fc.option(fc.nat(300)),
      fc.constantFrom(1, 2, 10),
      (requests, capUs, speed) => {
        const sessions = sessionsOf(requests, { capUs, speed })
        const all = sessions.flatMap((session) => session.requests)
        expect(all.toSorted((a, b) => a - b)).toEqual([...requests.keys()])
        const firsts = sessions.map((session) => session.requests[0]!)
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
        for (const { requests: mine, plan } of sessions) {
          for (const [number, { after, delayUs }] of plan.entries()) {
            const { after: waitsFor, atUs } = requests[mine[number]!]!
            if (number === 0) {
              expect([waitsFor, after, delayUs]).toEqual([null, [], 0])
              continue
            }
            expect(after).toHaveLength(1)
            expect(after[0]).toBeLessThan(number)
            expect(mine[after[0]!]).toBe(waitsFor)
            const before = requests[waitsFor!]!
            const gapUs = Math.max(0, atUs - before.atUs - before.recorded.serviceUs!) / speed
            expect(delayUs).toBe(Math.round(Math.min(gapUs, capUs ?? gapUs)))
          }
        }
      },
    ),
  )
})
