import { areMixed, type Pair } from './pairs.ts'
import { judgeRatio, leastPairs, type Ratio, ratioOf } from './ratio.ts'

/** The ratio is the time of the paid tier over that of the default. */
export type TierResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few' | 'unmixed'; readonly ratio: number }
  | Ratio

/** One audit of a thousand of a tier that is exactly as fast as sold. */
const fails = 0.001

/** Whether a paid tier is as fast as sold: SOLD-08, in at most `promised` of the default tier's time. */
export function judgeTier(
  pairs: readonly Pair[],
  promised: number,
  draw: () => number,
): TierResult {
  if (pairs.length === 0) return { is: 'unseen' }
  const logs = pairs.map(({ logRatio }) => logRatio)
  if (pairs.length < leastPairs) return { is: 'few', ratio: ratioOf(logs) }
  if (!areMixed(pairs)) return { is: 'unmixed', ratio: ratioOf(logs) }
  return judgeRatio(logs, promised, fails, draw)
}
