import { flippedP } from './chance.ts'
import { areMixed, type Pair } from './pairs.ts'

export type TierResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few' | 'unmixed'; readonly ratio: number }
  | {
      readonly is: 'pass' | 'fail' | 'inconclusive'
      /** Time of the paid tier over that of the default. */
      readonly ratio: number
      readonly p: number
    }

/** So many pairs make a verdict. */
export const leastPairs = 20
const fails = 0.005
const passes = 0.05

/**
 * Whether a paid tier is as fast as sold: SOLD-08. Slower than promised at p <= 0.005 fails, faster at p <= 0.05 passes.
 *
 * @param promised the most time of the tier, as a share of the default's
 */
export function judgeTier(
  pairs: readonly Pair[],
  promised: number,
  draw: () => number,
): TierResult {
  if (pairs.length === 0) return { is: 'unseen' }
  const logs = pairs.map(({ logRatio }) => logRatio)
  const ratio = Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length)
  if (pairs.length < leastPairs) return { is: 'few', ratio }
  if (!areMixed(pairs)) return { is: 'unmixed', ratio }
  const beyond = logs.map((each) => each - Math.log(promised))
  const slower = flippedP(beyond, draw)
  if (slower <= fails) return { is: 'fail', ratio, p: slower }
  const faster = flippedP(
    beyond.map((each) => -each),
    draw,
  )
  return { is: faster <= passes ? 'pass' : 'inconclusive', ratio, p: faster }
}
