import { type CountedPoint, median, slackTokens } from './line.ts'

export type HiddenResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few' | 'pass' | 'fail' | 'inconclusive'; readonly beside: number }

/** So many short prompts make a verdict: the middle one of five is right if two are not. */
export const leastShort = 5
/** A factor on so short a text is within the slack. */
export const mostShortTokens = 16

/**
 * Whether the service adds more to a short prompt than it says: SOLD-02. The template, and whatever is put before it, is the middle
 * difference of reported and counted tokens.
 *
 * @param short prompts of at most `mostShortTokens`, or of any length whose counts have no factor
 * @param promised the most tokens of the template
 */
export function judgeHidden(short: readonly CountedPoint[], promised: number): HiddenResult {
  if (short.length === 0) return { is: 'unseen' }
  const beside = median(short.map(({ counted, reported }) => reported - counted))
  if (short.length < leastShort) return { is: 'few', beside }
  if (beside - slackTokens > promised) return { is: 'fail', beside }
  return { is: beside <= promised ? 'pass' : 'inconclusive', beside }
}
