import { smallest } from '../../../user/extremes.ts'
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
  /** Distance to the nearest whole number beyond what slack explains. */
  readonly isWhole: boolean
}

export type RepeatResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'pass'; readonly slopes: readonly WordSlope[] }
  | {
      readonly is: 'fail'
      readonly why: 'not-whole' | 'doubled'
      /** Tokens that the service counts for each token. */
      readonly factor: number
      readonly slopes: readonly WordSlope[]
    }
  | { readonly is: 'inconclusive'; readonly why: string; readonly slopes: readonly WordSlope[] }

/** So many words make a verdict, and so many slopes that are not whole a failure. */
const leastWords = 6
const leastOff = 4
/** A slope that may be off by more shows nothing. */
const widestBound = 0.1

/**
 * Whether repeats of a word are counted as whole tokens: SOLD-01 without a named encoding. An encoding that splits at spaces gives
 * each repeat of a word the same whole number of tokens, so `(r(m) - r(n)) / (m - n)` is whole within `4J / (m - n)`. Common words
 * are one token each; the same whole number above 1 for all of them is a multiple. Numbers that differ are an encoding of small
 * pieces, or a multiple of one.
 */
export function judgeRepeats(points: readonly RepeatPoint[]): RepeatResult {
  const slopes = wordSlopes(points)
  if (slopes.length === 0) return { is: 'unseen' }
  const off = slopes.filter(({ isWhole }) => !isWhole)
  const wholes = slopes.map(({ slope }) => Math.round(slope))
  const least = smallest(wholes)
  if (off.length >= leastOff) return { is: 'fail', why: 'not-whole', factor: factorOf(off), slopes }
  if (off.length > 0)
    return {
      is: 'inconclusive',
      why: `${off.length} of ${slopes.length} words have no whole number of tokens: a part of the requests is counted otherwise`,
      slopes,
    }
  if (slopes.length < leastWords)
    return {
      is: 'inconclusive',
      why: `only ${slopes.length} of ${leastWords} words were sent`,
      slopes,
    }
  if (least <= 1) return { is: 'pass', slopes }
  return wholes.every((each) => each === least)
    ? { is: 'fail', why: 'doubled', factor: least, slopes }
    : {
        is: 'inconclusive',
        why: 'each repeat of a common word has several tokens, and not alike: an encoding of small pieces, or a multiple',
        slopes,
      }
}

/** The slope of each word that is sent in two lengths which are far enough apart. */
function wordSlopes(points: readonly RepeatPoint[]): readonly WordSlope[] {
  return [...Map.groupBy(points, ({ word }) => word)].flatMap(([word, own]) => {
    const sorted = own.toSorted((a, b) => a.times - b.times)
    const [few, many] = [sorted[0]!, sorted.at(-1)!]
    const apart = many.times - few.times
    const bound = (4 * slackTokens) / apart
    if (apart === 0 || bound > widestBound) return []
    const slope = (many.reported - few.reported) / apart
    return [{ word, slope, isWhole: Math.abs(slope - Math.round(slope)) <= bound }]
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

/** Tokens counted for each token; the words are common, so each has the nearest whole number, at least one. */
function factorOf(off: readonly WordSlope[]): number {
  const ratios = off.map(({ slope }) => slope / Math.max(1, Math.floor(slope)))
  return ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!
}
