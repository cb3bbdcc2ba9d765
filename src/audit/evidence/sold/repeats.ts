import { largest, smallest } from '../../../user/extremes.ts'
import { slackTokens } from './line.ts'

/** A prompt of one word, again and again. */
export interface RepeatPoint {
  readonly word: string
  readonly times: number
  readonly reported: number
}

/** Tokens of each repeat of a word, of two prompts of different lengths. */
export interface WordSlope {
  readonly word: string
  readonly slope: number
  /** The slope is off by at most this. */
  readonly bound: number
  /** Whether it is a whole number, as far as slack shows. */
  readonly isWhole: boolean
  /** Whether an encoding gives it: it is whole, or words share tokens. */
  readonly isHonest: boolean
  /** Tokens beside the repeats, by the line of both lengths. */
  readonly beside: number
  /** Tokens of the longer one. */
  readonly many: number
}

export type RepeatResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'pass'; readonly slopes: readonly WordSlope[] }
  | {
      readonly is: 'fail'
      /** Tokens that the service counts for each token. */
      readonly factor: number
      readonly slopes: readonly WordSlope[]
    }
  | { readonly is: 'inconclusive'; readonly why: string; readonly slopes: readonly WordSlope[] }

/** Words of one token each that a pass needs. */
const leastWords = 6
/** Words with a slope that no encoding has, which a failure needs. */
const leastOff = 4
/** Of those, words with too many tokens: fewer tokens harm nobody. So many suffice where one factor explains all words. */
const leastOver = 2
/** A slope that may be off by more shows nothing. */
const widestBound = 0.1
/** Encodings whose tokens span words have at most so many in one. */
const mostWordsInToken = 4
/** Tokens by which a prompt of one word may be off the line of the long ones, since its word is another. */
const strayTokens = 8 * slackTokens

/**
 * Whether repeats of a word are counted as an encoding can count them: SOLD-01 where nothing names the encoding. One that splits at spaces gives
 * each repeat of a word the same whole number of tokens. So with r(m) tokens reported for m repeats, `(r(m) - r(n)) / (m - n)` is whole within
 * `4J / (m - n)`, where J is `slackTokens`; one whose tokens span up to four words gives multiples of a half, a third or a quarter. Nothing else is honest. A whole number above 1 for every word is a
 * multiple, or an encoding of small pieces: that accuses nobody, and is no pass.
 *
 * @param oneWord tokens that are reported for a prompt of one word; null if none was sent. Counts that do not come from
 * there by a line, and end at one number, are of prompts that were cut
 */
export function judgeRepeats(
  points: readonly RepeatPoint[],
  oneWord: number | null = null,
): RepeatResult {
  const slopes = wordSlopes(points)
  if (slopes.length === 0) return { is: 'unseen' }
  const off = slopes.filter(({ isHonest }) => !isHonest)
  const inconclusive = (why: string): RepeatResult => ({ is: 'inconclusive', why, slopes })
  const cap = largest([0, ...points.map(({ reported }) => reported)])
  // A line through both lengths predicts far more tokens for one word than were reported.
  const isCut = ({ slope, beside, many }: WordSlope) =>
    oneWord !== null && many === cap && beside + slope - oneWord > strayTokens
  if (slopes.some(isCut))
    return inconclusive(
      'long prompts of a word are not counted in proportion to short ones, and none has more tokens: they may be cut',
    )
  const over = off.filter(({ slope }) => slope > 1)
  if (over.length >= leastOver) {
    if (off.length >= leastOff) return { is: 'fail', factor: factorOf(over), slopes }
    const factor = oneFactorOf(over[0]!, slopes)
    if (factor !== null) return { is: 'fail', factor, slopes }
  }
  if (off.length > 0)
    return inconclusive(
      `${off.length} of ${slopes.length} words have a number of tokens that no encoding gives: a part of the requests is counted otherwise`,
    )
  if (slopes.length < leastWords)
    return inconclusive(`only ${slopes.length} of ${leastWords} words were sent`)
  if (slopes.some(({ isWhole }) => !isWhole))
    return inconclusive(
      'several common words share tokens: an encoding whose tokens span words, or a factor',
    )
  const ofOne = slopes.filter(({ slope }) => Math.round(slope) <= 1).length
  if (ofOne < leastWords)
    return inconclusive(
      `${ofOne === 0 ? 'each repeat of a common word has' : `repeats of ${slopes.length - ofOne} of ${slopes.length} common words have`} several tokens: an encoding of small pieces, or a multiple. A tokenizer in the contract tells which`,
    )
  const uneven = unevenOf(points)
  return uneven === 0
    ? { is: 'pass', slopes }
    : inconclusive(
        `${uneven} prompts are counted more than equal ones: a part of the requests is counted otherwise`,
      )
}

/** Prompts that are counted more than others with the same text. */
function unevenOf(points: readonly RepeatPoint[]): number {
  const groups = Map.groupBy(points, ({ word, times }) => `${times} ${word}`)
  return [...groups.values()].flatMap((own) => {
    const least = smallest(own.map(({ reported }) => reported))
    return own.filter(({ reported }) => reported - least > strayTokens)
  }).length
}

/** The slope of each word that is sent in two lengths which are far enough apart. */
function wordSlopes(points: readonly RepeatPoint[]): readonly WordSlope[] {
  return [...Map.groupBy(points, ({ word }) => word)].flatMap(([word, own]) => {
    // Of equal prompts the one that is counted least: what some are counted more is no slope.
    const sorted = own.toSorted((a, b) => a.times - b.times || a.reported - b.reported)
    const few = sorted[0]!
    const many = sorted.find(({ times }) => times === sorted.at(-1)!.times)!
    const apart = many.times - few.times
    const bound = (4 * slackTokens) / apart
    if (apart === 0 || bound > widestBound) return []
    const slope = (many.reported - few.reported) / apart
    const isNear = (words: number) => Math.abs(slope - Math.round(slope * words) / words) <= bound
    const isHonest = Array.from({ length: mostWordsInToken }, (_, at) => at + 1).some(isNear)
    const beside = few.reported - few.times * slope
    return [{ word, slope, bound, isWhole: isNear(1), isHonest, beside, many: many.reported }]
  })
}

/** The tokens of each word whose repeats have a whole number of them, at least one. */
export function tokensOfWords(points: readonly RepeatPoint[]): ReadonlyMap<string, number> {
  return new Map(
    wordSlopes(points).flatMap(({ word, slope, isWhole }) =>
      isWhole && slope >= 0.5 ? [[word, Math.round(slope)]] : [],
    ),
  )
}

/**
 * The factor of one word, if all words have whole numbers times that, and none has a whole number as well; null otherwise, or of fewer
 * words than a pass needs.
 */
function oneFactorOf({ slope, bound }: WordSlope, all: readonly WordSlope[]): number | null {
  const factor = slope / Math.floor(slope)
  const isMultiple = (word: WordSlope) => {
    const tokens = Math.max(1, Math.round(word.slope / factor))
    const slack = word.bound + (tokens / Math.floor(slope)) * bound
    return Math.abs(word.slope - tokens * factor) <= slack
  }
  const isClear = all.length >= leastWords && factor > 1 + 2 * bound
  return isClear && all.every(isMultiple) ? factor : null
}

/** Tokens counted for each token; the words are common, so each has the whole number below its slope, at least one. */
function factorOf(off: readonly WordSlope[]): number {
  const ratios = off.map(({ slope }) => slope / Math.max(1, Math.floor(slope)))
  return ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!
}
