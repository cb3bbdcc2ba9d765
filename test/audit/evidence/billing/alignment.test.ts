import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOfLeaving } from '../../../../src/audit/evidence/billing/alignment.ts'
import { seeded } from './histories.ts'

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

test('leaving out two credits of one hole costs less than one credit of each of two holes', () => {
  const moments = [moment(0, 0), moment(1_000, 1), moment(1_000, 1), moment(2_000, 2)]
  const costs = costOfLeaving(moments, [prediction(0), prediction(2_000)])
  expect(costs.indexOf(Math.min(...costs))).toBe(1)
})

type Moments = Parameters<typeof costOfLeaving>[0]
type Predictions = Parameters<typeof costOfLeaving>[1]

/**
 * The cost of the best matching that leaves a moment out, found without a band. A moment counts
 * alone or as the first of its group.
 */
function searched(moments: Moments, predictions: Predictions, left: number): number {
  const skip = ({ share }: Predictions[number]) => -Math.log(1 - share)
  const ends = predictions.map((_, nth) =>
    predictions.slice(nth).reduce((sum, each) => sum + skip(each), 0),
  )
  const rest = [...moments.map((): number[] => []), [...ends, 0]]
  for (let at = moments.length - 1; at >= 0; at--) {
    for (let nth = predictions.length; nth >= 0; nth--) {
      const { fromUs, toUs, of } = moments[at]!
      const options: number[] = []
      for (let to = at; to < at + 4 && moments[to]?.of === of; to++) {
        if (at < left && left <= to) break
        options.push(24 + (to - at) + rest[to + 1]![nth]!)
      }
      const predicted = predictions[nth]
      if (predicted !== undefined) {
        options.push(skip(predicted) + rest[at]![nth + 1]!)
        const { atUs, scaleUs, share } = predicted
        const off = Math.max(0, fromUs - atUs, atUs - toUs) / scaleUs
        const paired = Math.log1p(off ** 2) - Math.log(share)
        if (at !== left) options.push(paired + rest[at + 1]![nth + 1]!)
      }
      rest[at]![nth] = Math.min(...options)
    }
  }
  return rest[0]![0]!
}

test.each([
  ['a few predictions', 400, 6, 40],
  ['more predictions than its band, with only near ones needed', 40, 250, 1_000],
])('the cost is that of the best of all matchings, for %s', (_, cases, most, spanUs) => {
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
        scaleUs: most > 6 ? 1 : 10 ** (1 - pick(7)),
        share: most > 6 ? 0.02 : [0.02, 0.5, 0.98][pick(3)]!,
      }))
    const costs = costOfLeaving(moments, predictions)
    for (const [at, cost] of costs.entries()) {
      expect(cost).toBeCloseTo(searched(moments, predictions, at), 6)
    }
  }
})
