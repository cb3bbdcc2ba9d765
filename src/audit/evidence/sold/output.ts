/** What an answer reports, beside the tokens of its visible text. */
export interface OutputPoint {
  readonly reported: number
  readonly counted: number
}

export type OutputResult =
  | { readonly is: 'unseen' }
  | {
      readonly is: 'few' | 'pass' | 'fail' | 'inconclusive'
      readonly excess: number
      /** Answers with an excess beyond what fails, where that of all is not. */
      readonly odd?: number
    }

export const leastAnswers = 10
/** An answer ends within its last tokens: shorter ones would say more of their ends than of their text. */
export const leastReported = 100
/** In shorter answers, the few tokens of a template that end an answer or name its channel are a share that would fail. One who counts too
 * much, and stops before 200, may report a few less. */
export const leastAccusing = 180
/** Share of the reported tokens that pieces other than the encoding's may explain. */
const passes = 0.02
export const fails = 0.04
/** So many answers with an excess of their own may be chance: pieces differ from text to text. */
const mostOdd = 0.05

/**
 * Whether the output tokens are those of the answers: SOLD-09. A model may write a text in more pieces than its encoding needs, so
 * a small excess is no finding. One that only some answers have is no pass.
 *
 * @param own the share of the model's reported tokens by which its answers at its reference exceed their texts
 */
export function judgeOutputs(all: readonly OutputPoint[], own = 0): OutputResult {
  const points = all.filter(({ reported }) => reported >= leastReported)
  if (points.length === 0) return { is: 'unseen' }
  const excess = excessOf(points) - own
  if (points.length < leastAnswers) return { is: 'few', excess }
  if (excess > fails) {
    const long = points.filter(({ reported }) => reported >= leastAccusing)
    const isSure = long.length >= leastAnswers && excessOf(long) - own > fails
    return { is: isSure ? 'fail' : 'inconclusive', excess }
  }
  const odd = points.filter((point) => excessOf([point]) - own > fails).length
  if (excess > passes) return { is: 'inconclusive', excess }
  return odd > Math.max(1, mostOdd * points.length)
    ? { is: 'inconclusive', excess, odd }
    : { is: 'pass', excess }
}

/** The share of the reported tokens that the texts do not have. */
function excessOf(points: readonly OutputPoint[]): number {
  const sum = (of: keyof OutputPoint) => points.reduce((total, each) => total + each[of], 0)
  return (sum('reported') - sum('counted')) / sum('reported')
}
