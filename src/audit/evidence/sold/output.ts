/** What an answer reports, beside the tokens of its visible text. */
export interface OutputPoint {
  readonly reported: number
  readonly counted: number
}

export type OutputResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few' | 'pass' | 'fail' | 'inconclusive'; readonly excess: number }

/** So many answers make a verdict. */
export const leastAnswers = 10
/** An answer ends within its last tokens: shorter ones would say more of their ends than of their text. */
export const leastReported = 100
/** Share of the reported tokens that pieces other than the encoding's may explain. */
const passes = 0.02
const fails = 0.04

/**
 * Whether the output tokens are those of the answers: SOLD-09. A model may write a text in more pieces than its encoding needs, so
 * a small excess is no finding.
 *
 * @param own the share of the model's reported tokens by which its answers at its reference exceed their texts
 */
export function judgeOutputs(all: readonly OutputPoint[], own = 0): OutputResult {
  const points = all.filter(({ reported }) => reported >= leastReported)
  if (points.length === 0) return { is: 'unseen' }
  const sum = (of: (point: OutputPoint) => number) =>
    points.reduce((total, each) => total + of(each), 0)
  const reported = sum((each) => each.reported)
  const excess = (reported - sum((each) => each.counted)) / reported - own
  if (points.length < leastAnswers) return { is: 'few', excess }
  return { is: excess <= passes ? 'pass' : excess > fails ? 'fail' : 'inconclusive', excess }
}
