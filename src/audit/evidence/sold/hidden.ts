import { median } from '../median.ts'
import { type CountedPoint, slackTokens } from './line.ts'

export type HiddenResult =
  | { readonly is: 'unseen' }
  | {
      readonly is: 'few' | 'pass' | 'fail' | 'inconclusive'
      readonly beside: number
      /** Prompts that are counted more than promised, where the middle one is not. */
      readonly strays?: number
    }

/** So many short prompts make a verdict: the middle one of five is right if two are not. */
export const leastShort = 5
/** A factor on so short a text is within the slack. */
export const mostShortTokens = 16
/** Another encoding than the named one may have so many tokens for each of a short text. */
const mostPieces = 2

/**
 * Whether the service adds more to a short prompt than it says: SOLD-02. The template, and whatever is put before it, is the middle
 * difference of reported and counted tokens. Another encoding than the named one has other counts for a text of several tokens, so only
 * prompts of one word or two accuse, and others by what is beside twice their tokens. One prompt that is counted more than promised is no pass.
 *
 * @param short prompts of at most `mostShortTokens`, or of any length whose counts have no factor
 */
export function judgeHidden(short: readonly CountedPoint[], promised: number): HiddenResult {
  if (short.length === 0) return { is: 'unseen' }
  const beside = median(short.map(({ counted, reported }) => reported - counted))
  if (short.length < leastShort) return { is: 'few', beside }
  const surely = surelyBeside(short)
  if (surely - slackTokens > promised) return { is: 'fail', beside: surely }
  if (beside > promised) return { is: 'inconclusive', beside }
  const strays = short.filter(
    ({ counted, reported }) => reported - counted - slackTokens > promised,
  ).length
  return strays === 0 ? { is: 'pass', beside } : { is: 'inconclusive', beside, strays }
}

/** What is beside the texts in the middle, whatever encoding counts them. */
function surelyBeside(short: readonly CountedPoint[]): number {
  const plain = short.filter(({ counted }) => counted <= slackTokens || counted > mostShortTokens)
  return median(
    plain.length >= leastShort
      ? plain.map(({ counted, reported }) => reported - counted)
      : short.map(({ counted, reported }) =>
          counted > mostShortTokens ? reported - counted : reported - mostPieces * counted,
        ),
  )
}

export type BeyondResult =
  | Extract<HiddenResult, { is: 'unseen' }>
  | (Exclude<HiddenResult, { is: 'unseen' }> & {
      /** Prompts of the service that were compared. */
      readonly compared: number
    })

/** A prompt, what was counted of it, and its own tokens where they can be counted. */
export interface ShortPrompt {
  readonly text: string
  readonly reported: number
  readonly counted: number | null
}

/** More letters may have so many tokens that a factor is beyond the slack. */
const mostSharedLetters = 64

/**
 * How many tokens more than its reference the service counts beside a short prompt: SOLD-02, in the middle. Prompts sent to both
 * need no tokenizer; without five of these, those beside the counted ones are compared. Each side may be off by the slack.
 */
export function judgeBeyond(
  own: readonly ShortPrompt[],
  there: readonly ShortPrompt[],
): BeyondResult {
  const atReference = Map.groupBy(there, ({ text }) => text)
  const shared = own.flatMap(({ text, reported }) => {
    const same = text.length > mostSharedLetters ? undefined : atReference.get(text)
    return same === undefined ? [] : [reported - median(same.map((each) => each.reported))]
  })
  const [here, other] = [besides(own), besides(there)]
  const fewest = Math.min(here.length, other.length)
  const areShared = shared.length >= leastShort || fewest === 0
  const more = areShared ? median(shared) : median(here) - median(other)
  if (Number.isNaN(more)) return { is: 'unseen' }
  const found = { beside: more, compared: areShared ? shared.length : here.length }
  if (Math.max(shared.length, fewest) < leastShort) return { is: 'few', ...found }
  if (more > 2 * slackTokens) return { is: 'fail', ...found }
  if (more > slackTokens) return { is: 'inconclusive', ...found }
  const strays = shared.filter((each) => each > 2 * slackTokens).length
  return strays === 0
    ? { is: 'pass', ...found }
    : { is: 'inconclusive', ...found, compared: shared.length, strays }
}

const besides = (prompts: readonly ShortPrompt[]) =>
  prompts.flatMap(({ reported, counted }) => (counted === null ? [] : [reported - counted]))
