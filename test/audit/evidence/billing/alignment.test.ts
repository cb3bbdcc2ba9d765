import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOfLeaving } from '../../../../src/audit/evidence/billing/alignment.ts'
import { seeded } from './histories.ts'
import { searchedCost } from './searched-cost.ts'

const moment = (atUs: number, of: number) => ({ fromUs: atUs, toUs: atUs, of })
const prediction = (atUs: number) => ({ atUs, scaleUs: 10, share: 0.9 })

test('the moment without a prediction costs the least to leave out', () => {
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

test('leaving out two credits of one balance gap costs less than one credit of each of two balance gaps', () => {
  const moments = [moment(0, 0), moment(1_000, 1), moment(1_000, 1), moment(2_000, 2)]
  const costs = costOfLeaving(moments, [prediction(0), prediction(2_000)])
  expect(costs.indexOf(Math.min(...costs))).toBe(1)
})

test.each([
  ['a few predictions', 400, 6, 40, [10, 1, 0.1, 0.01, 1e-3, 1e-4, 1e-5], [0.02, 0.5, 0.98]],
  ['more predictions than its band, of which it needs the near ones', 40, 250, 1_000, [1], [0.02]],
  // Two that are a microsecond off are dearer than to leave a moment over.
  ['more than its band, of which few are near enough', 40, 250, 1_000, [1e-6], [0.02]],
] as const)(
  'it costs what the best of all matchings costs, for %s',
  (_, cases, most, spanUs, scalesUs, shares) => {
    const random = seeded(5)
    const pick = (below: number) => Math.floor(random() * below)
    for (let nth = 0; nth < cases; nth++) {
      let of = 0
      const moments = Array.from({ length: 1 + pick(6) }, () => pick(spanUs))
        .sort((a, b) => a - b)
        .map((fromUs) => {
          of += pick(2)
          return { fromUs, toUs: fromUs + pick(4), of }
        })
      const predictions = Array.from({ length: pick(most) }, () => pick(spanUs))
        .sort((a, b) => a - b)
        .map((atUs) => ({
          atUs,
          scaleUs: scalesUs[pick(scalesUs.length)]!,
          share: shares[pick(shares.length)]!,
        }))
      const costs = costOfLeaving(moments, predictions)
      for (const [at, cost] of costs.entries()) {
        expect(cost).toBeCloseTo(searchedCost(moments, predictions, at), 6)
      }
    }
  },
)
