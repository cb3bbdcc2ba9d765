import type { costOfLeaving } from '../../../../src/audit/evidence/billing/alignment.ts'

type Moments = Parameters<typeof costOfLeaving>[0]
type Predictions = Parameters<typeof costOfLeaving>[1]

/** What the best matching costs that leaves a moment over, alone or as the first of some of one thing; without a band. */
export function searchedCost(moments: Moments, predictions: Predictions, left: number): number {
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
