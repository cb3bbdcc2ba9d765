import { largest, smallest } from '../../../user/extremes.ts'
import { median } from '../median.ts'
import { type CountedPoint, type Line, lineOf, slackTokens } from './line.ts'

/** Kinds of text. `words` are common words of lower case, which have one token each in every encoding. */
export const scripts = ['words', 'code', 'han', 'prose'] as const
export type Script = (typeof scripts)[number]

export interface TextPoint extends CountedPoint {
  readonly script: Script
  readonly text: string
}

export interface ScriptLine extends Line {
  readonly script: Script
  /** Counts that are further from the middle one than any slack explains. */
  readonly strays: number
}

export type SlopeResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'pass'; readonly lines: readonly ScriptLine[] }
  | { readonly is: 'fail'; readonly why: SlopeFault; readonly lines: readonly ScriptLine[] }
  | { readonly is: 'inconclusive'; readonly why: string; readonly lines: readonly ScriptLine[] }

/** What is wrong: all counts grow alike, those of a share of the requests do, or all are multiples of a number. */
export type SlopeFault =
  | { readonly kind: 'factor' }
  | { readonly kind: 'share'; readonly strays: number; readonly of: number }
  | { readonly kind: 'rounded'; readonly to: number }

/** An excess of the slope up to this is no finding. */
const toleratedExcess = 0.005
/** A slope whose bound is wider says nothing. */
const widestBound = 2 * toleratedExcess
const strayTokens = 4 * slackTokens
/** Different texts that are all multiples of 4 or more by chance: once in 4^12. */
const leastRounded = 12
const comparedScripts = 3

/** Whether counts are those of the texts: SOLD-01 with an encoding. A ratio that depends on the script is another encoding: no fault. */
export function judgeSlopes(points: readonly TextPoint[]): SlopeResult {
  const lines = scripts.flatMap((script) => lineOfScript(points, script) ?? [])
  const [first] = lines
  if (first === undefined) return { is: 'unseen' }
  const to = commonMultiple(points)
  if (to !== null) return { is: 'fail', why: { kind: 'rounded', to }, lines }
  const found = new Map(lines.map((line) => [line.script, line]))
  const isOver = ({ slope, bound }: ScriptLine) => slope - bound > 1 + toleratedExcess
  // By an encoding of small pieces no word has one token, and all plain text is prose.
  const plain = found.get('words') ?? found.get('prose')
  const three = [plain, found.get('code'), found.get('han')].flatMap((line) => line ?? [])
  const isWhole = three.length === comparedScripts
  if (isWhole && plain !== undefined && isOver(plain)) {
    const slopes = three.map(({ slope }) => slope)
    const widest = largest([0, ...three.map(({ bound }) => bound)])
    const isAlike = largest(slopes, 0) - smallest(slopes) <= 2 * widest
    if (isAlike) return { is: 'fail', why: { kind: 'factor' }, lines }
  }
  const isFit = (line: ScriptLine) =>
    Math.abs(line.slope - 1) + line.bound <= widestBound && line.strays === 0
  const odd = oddTexts(points, found)
  if (lines.every(isFit) && odd === 0) return { is: 'pass', lines }
  const words = found.get('words')
  if (isWhole && words !== undefined) {
    const share = shareOf(
      points.filter(({ script }) => script === 'words'),
      isOver(words),
    )
    if (share !== null) return { is: 'fail', why: share, lines }
  }
  const why = lines.every(isFit)
    ? `${odd} texts of other kinds, too short for a line of their own, are counted otherwise than the rest`
    : doubt(lines, isWhole)
  return { is: 'inconclusive', why, lines }
}

const apartOf = ({ counted, reported }: CountedPoint) => reported - counted

/** Texts of scripts without a line that have more or fewer tokens beside them than the others. */
function oddTexts(points: readonly TextPoint[], lines: ReadonlyMap<Script, ScriptLine>): number {
  const middle = median(points.filter(({ script }) => lines.has(script)).map(apartOf))
  return points.filter(
    (point) => !lines.has(point.script) && Math.abs(apartOf(point) - middle) > strayTokens,
  ).length
}

function lineOfScript(all: readonly TextPoint[], script: Script): ScriptLine | null {
  const points = all.filter((point) => point.script === script)
  const line = lineOf(points)
  if (line === null || line.bound > widestBound) return null
  const apart = points.map(apartOf)
  const middle = median(apart)
  const strays = apart.filter((each) => Math.abs(each - middle) > strayTokens).length
  return { ...line, script, strays }
}

/** A text of so many words, each of one token: the template's part of its count is small. */
const longTokens = 500

/**
 * Texts of common words that are counted more than others without a word of their own: long texts counted exactly show that each
 * word has one token, so no encoding explains it; else null. Unless all `isSteep`, it takes texts of several sizes that one
 * factor counts.
 */
function shareOf(words: readonly TextPoint[], isSteep: boolean): SlopeFault | null {
  const least = smallest(words.map(apartOf))
  // What is counted less than its text was cut, or read from a cache, and the others are not too many.
  if (least < -slackTokens) return null
  const right = words.filter(
    (point) => point.counted >= longTokens && apartOf(point) - least <= 2 * slackTokens,
  )
  const known = new Set(right.flatMap(wordsOf))
  const strays = words.filter(
    (point) =>
      apartOf(point) - least > strayTokens && wordsOf(point).every((word) => known.has(word)),
  )
  const isMultiple = haveOneFactor(strays, least) || (isSteep && doGrow(strays))
  if (strays.length < 2 || !isMultiple) return null
  return { kind: 'share', strays: strays.length, of: words.length }
}

/** Whether longer texts have more tokens too many than shorter ones. A longer template has as many for all. */
function doGrow(strays: readonly TextPoint[]): boolean {
  const [first, ...others] = strays.toSorted((a, b) => a.counted - b.counted)
  const last = others.at(-1)
  return (
    first !== undefined &&
    last !== undefined &&
    last.counted >= leastGrowth * first.counted &&
    apartOf(last) - apartOf(first) > strayTokens
  )
}

/** Texts of several sizes: the longest has so many times the tokens of the shortest. */
const leastGrowth = 1.5

/** Whether texts of several sizes have an excess in proportion to their size. A longer template, and a text that was cut, have none. */
function haveOneFactor(strays: readonly TextPoint[], beside: number): boolean {
  const sizes = strays.map(({ counted }) => counted)
  const factors = strays.map(({ counted, reported }) => (reported - beside) / counted)
  const least = smallest(sizes)
  const isAlike = largest(factors, 0) - smallest(factors) <= (2 * slackTokens) / least
  return largest(sizes, 0) >= leastGrowth * least && isAlike
}

const wordsOf = ({ text }: TextPoint) => text.split(' ')

function doubt(lines: readonly ScriptLine[], isWhole: boolean): string {
  const ratios = lines.map(({ script, slope }) => `${slope.toFixed(3)} for ${script}`).join(', ')
  return isWhole
    ? `the counts are not those of the named encoding (${ratios}), and not in one ratio: another encoding, or a part of the requests is counted otherwise`
    : `the counts are not those of the named encoding (${ratios}); with texts of three scripts, another encoding could be told from a factor (scenarios/audit-integrity.yaml)`
}

/** The number of which all counts are multiples, unless the texts are equal, or their own counts are such multiples. */
function commonMultiple(points: readonly TextPoint[]): number | null {
  const byText = new Map(points.map((point) => [point.counted, point.reported]))
  const counts = new Set(byText.values())
  // One number for all texts is made up, and no rounding.
  if (byText.size < leastRounded || counts.size < 3) return null
  const to = divisorOf([...counts])
  if (to < leastStep) return null
  const rests = new Set([...byText.keys()].map((counted) => counted % to))
  return rests.size >= 3 ? to : null
}

const leastStep = 4
/** An encoding of small pieces may give single words, and their repeats, few counts that are multiples. */
const leastCounts = 6

/**
 * The number of which the counts of all texts are multiples, whatever encoding counts them: null if chance, or the sizes of the texts, may
 * explain it. Prompts that are made to measure, of 64, 128 and 192 tokens, have no single word among them.
 */
export function commonStep(
  all: readonly { readonly text: string; readonly reported: number }[],
): number | null {
  const byText = new Map(all.map(({ text, reported }) => [text, reported]))
  const counts = [...new Set(byText.values())]
  const hasWord = [...byText.keys()].some((text) => !/\s/.test(text))
  if (byText.size < leastRounded || counts.length < leastCounts || !hasWord) return null
  const to = divisorOf(counts)
  return to < leastStep ? null : to
}

const divisorOf = (counts: readonly number[]) => counts.reduce(greatestDivisor, 0)

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))
