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

/** A prompt, what was counted of it, and its own tokens where they can be counted. */
export interface ShortPrompt {
  readonly text: string
  readonly reported: number
  readonly counted: number | null
}

/** More letters may have so many tokens that a factor is beyond the slack. */
const mostSharedLetters = 64

/**
 * Whether the service counts more beside a short prompt than its reference does: SOLD-02 with a reference. Prompts that both were
 * sent need no tokenizer; without five of these, what is beside the counted ones is compared. Each side may be off by the slack.
 *
 * @returns how many tokens more, in the middle
 */
export function judgeBeyond(
  own: readonly ShortPrompt[],
  there: readonly ShortPrompt[],
): HiddenResult {
  const atReference = Map.groupBy(there, ({ text }) => text)
  const shared = own.flatMap(({ text, reported }) => {
    const same = text.length > mostSharedLetters ? undefined : atReference.get(text)
    return same === undefined ? [] : [reported - median(same.map((each) => each.reported))]
  })
  const [here, other] = [besides(own), besides(there)]
  const fewest = Math.min(here.length, other.length)
  const more =
    shared.length >= leastShort || fewest === 0 ? median(shared) : median(here) - median(other)
  if (Number.isNaN(more)) return { is: 'unseen' }
  if (Math.max(shared.length, fewest) < leastShort) return { is: 'few', beside: more }
  if (more > 2 * slackTokens) return { is: 'fail', beside: more }
  return { is: more <= slackTokens ? 'pass' : 'inconclusive', beside: more }
}

const besides = (prompts: readonly ShortPrompt[]) =>
  prompts.flatMap(({ reported, counted }) => (counted === null ? [] : [reported - counted]))
