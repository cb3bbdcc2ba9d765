import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOfLeaving } from '../../../src/audit/evidence/billing/alignment.ts'

const moment = (atUs: number, of: number) => ({ fromUs: atUs, toUs: atUs, of })
const prediction = (atUs: number) => ({ atUs, scaleUs: 10, share: 0.9 })

test('the moment that nothing was predicted for costs the least to leave over', () => {
  const jitter = fc.integer({ min: -10, max: 10 })
  const lines = fc.record({
    offsUs: fc.array(jitter, { minLength: 3, maxLength: 60 }),
    where: fc.nat(),
  })
  fc.assert(
    fc.property(lines, ({ offsUs, where }) => {
      const stray = where % (offsUs.length + 1)
      // Moments are 1,000 apart, but the stray one is 500 from its neighbours.
      const legal = offsUs.map((_, nth) => nth * 1_000)
      const moments = [...legal, stray * 1_000 - 500].sort((a, b) => a - b).map(moment)
      const costs = costOfLeaving(
        moments,
        offsUs.map((offUs, nth) => prediction(nth * 1_000 + offUs)),
      )
      expect(costs.indexOf(Math.min(...costs))).toBe(stray)
    }),
  )
})

test('two credits of one hole are left over together rather than one each of two holes', () => {
  const moments = [moment(0, 0), moment(1_000, 1), moment(1_000, 1), moment(2_000, 2)]
  const costs = costOfLeaving(moments, [prediction(0), prediction(2_000)])
  expect(costs.indexOf(Math.min(...costs))).toBe(1)
})
