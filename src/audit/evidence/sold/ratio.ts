import { flippedP } from './chance.ts'

export interface Ratio {
  readonly is: 'pass' | 'fail' | 'inconclusive'
  /** The geometric mean. */
  readonly ratio: number
  /** That of the ratio above what is allowed if it fails, else that of the ratio below. */
  readonly p: number
}

export const leastPairs = 20
const passes = 0.05

/** @param fails the p, by random changes of sign, up to which ratios above `most` fail. Those below it at p 0.05 pass. @param logs of the ratios */
export function judgeRatio(
  logs: readonly number[],
  most: number,
  fails: number,
  draw: () => number,
): Ratio {
  const ratio = ratioOf(logs)
  const beyond = logs.map((each) => each - Math.log(most))
  const above = flippedP(beyond, draw)
  if (above <= fails) return { is: 'fail', ratio, p: above }
  const below = flippedP(
    beyond.map((each) => -each),
    draw,
  )
  return { is: below <= passes ? 'pass' : 'inconclusive', ratio, p: below }
}

/** The geometric mean of ratios, by their logarithms. */
export const ratioOf = (logs: readonly number[]): number =>
  Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length)

/** Of Student's t with 19 degrees of freedom, 95 % are within so many deviations; with more, more are. */
const within95 = 2.1

/** The geometric mean, and where it is in 95 of 100 samples; of few pairs the mean alone. */
export function ratioBetween(logs: readonly number[]): {
  readonly value: number
  readonly low?: number
  readonly high?: number
} {
  const value = ratioOf(logs)
  if (logs.length < leastPairs) return { value }
  const squares = logs.reduce((sum, each) => sum + (each - Math.log(value)) ** 2, 0)
  const half = within95 * Math.sqrt(squares / (logs.length - 1) / logs.length)
  return { value, low: value * Math.exp(-half), high: value * Math.exp(half) }
}
