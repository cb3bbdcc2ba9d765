import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateEvent, RateHistory } from '../../../src/audit/rules/rates/history.ts'
import { RejectionsOfKey } from '../../../src/audit/rules/rates/waiting.ts'
import type { BandTrace } from '../../../src/limits/traces.ts'

const drawnEvents = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b'),
    gapUs: fc.nat(300),
    tookUs: fc.constantFrom(0, 10, 2000),
  }),
  { minLength: 2, maxLength: 40 },
)

test('a request was alone exactly if no other key of the account was in flight since two windows before', () => {
  let [alone, beside] = [0, 0]
  fc.assert(
    fc.property(drawnEvents, (drawn) => {
      let atUs = 0
      const events = drawn.map(({ key, gapUs, tookUs }) => {
        atUs += gapUs
        return { key, account: 'one', fromUs: atUs, untilUs: atUs + tookUs } as RateEvent
      })
      const groups = Map.groupBy(events, ({ key }) => key)
      const history = {
        byKey: { get: (key: string) => groups.get(key) ?? [] },
        byAccount: { get: () => events },
      } as unknown as RateHistory
      for (const [key, requests] of groups) {
        const wait = new RejectionsOfKey(history, {
          key,
          requests,
          windowUs: 100,
        } as unknown as BandTrace)
        for (const [index, next] of requests.slice(1).entries()) {
          const fromUs = requests[index]!.fromUs - 200
          const isAlone = !events.some(
            (other) => other.key !== key && other.fromUs <= next.untilUs && other.untilUs >= fromUs,
          )
          expect(wait.isAlone(index, next)).toBe(isAlone)
          if (isAlone) alone++
          else beside++
        }
      }
    }),
    { numRuns: 300 },
  )
  expect(Math.min(alone, beside)).toBeGreaterThan(100)
})
