import type { MeasuredName } from '../../audit/figures.ts'
import type { MeasuredFigure } from '../../audit/verdict.ts'

/** A value that both audits may have measured; null for a side that did not. */
export interface ComparedFigure {
  readonly name: MeasuredName
  /** `input per token, words, o200k` */
  readonly title: string
  readonly a: MeasuredFigure | null
  readonly b: MeasuredFigure | null
}

/** Which of two endpoints takes more for the same text, and by how much. */
export interface Dearer {
  /** What is compared: `input`, or `output`. */
  readonly what: 'input' | 'output'
  /** Whether by prices; else by tokens alone, since a contract has no price. */
  readonly isOfMoney: boolean
  /** The title of the figure that is compared. */
  readonly by: string
  /** What b takes over what a takes. */
  readonly ratio: number
  /** Where the true ratio is; null if it is not known. */
  readonly between: readonly [low: number, high: number] | null
  /** `neither` if the counts do not tell them apart. */
  readonly dearer: 'a' | 'b' | 'neither'
}

/** A model may write the same answer in other pieces: so small a difference of output is none. */
const alike = 0.02

/** Prices where both have one, else tokens: the first of the list that both have. */
const compared = {
  input: ['text_price', 'input_tokens', 'tokens_of_word'],
  output: ['answer_price', 'output_tokens'],
} as const

/** Which is dearer, for input and for output; nothing of what was not measured at both, or is in two currencies. */
export function dearerOf(figures: readonly ComparedFigure[]): readonly Dearer[] {
  return (['input', 'output'] as const).flatMap((what) => {
    const both = compared[what].flatMap((name) => figures.filter((each) => each.name === name))
    const found = both.find(({ a, b }) => a !== null && b !== null && a.unit === b.unit)
    if (found === undefined || found.a!.value <= 0) return []
    const ratio = found.b!.value / found.a!.value
    const between = ratioBetween(found.a!, found.b!)
    const [low, high] = between ?? [ratio / (1 + alike), ratio * (1 + alike)]
    return {
      ...{ what, ratio, between, by: found.title, isOfMoney: found.a!.unit !== undefined },
      dearer: low > 1 ? 'b' : high < 1 ? 'a' : 'neither',
    }
  })
}

/** The least and the most that the bounds of both allow; null without bounds. */
export function ratioBetween(
  a: MeasuredFigure,
  b: MeasuredFigure,
): readonly [low: number, high: number] | null {
  const isKnown =
    a.low !== undefined && a.high !== undefined && b.low !== undefined && b.high !== undefined
  return isKnown && a.low > 0 ? [b.low / a.high, b.high / a.low] : null
}

/** `b is dearer by 10.0 % (9.8 to 10.2 %) for the same text`, a sentence for each of input and output. */
export function dearerText({ what, isOfMoney, ratio, between, dearer }: Dearer): string {
  const does = isOfMoney ? 'takes' : 'counts'
  const of = what === 'input' ? 'the same text' : 'an answer of the same text'
  const range = (side: 'a' | 'b') => {
    if (between === null) return ''
    const [low, high] = between
      .map((each) => excess(side === 'b' ? each : 1 / each))
      .toSorted((x, y) => x - y)
    return ` (${low!.toFixed(1)} to ${high!.toFixed(1)} %)`
  }
  if (dearer === 'neither')
    return `For ${of} both ${isOfMoney ? 'take' : 'count'} as much, as far as the counts tell${range('b')}.`
  const more = excess(dearer === 'b' ? ratio : 1 / ratio).toFixed(1)
  return `For ${of} ${dearer} ${does} ${more} % more${range(dearer)}.`
}

const excess = (ratio: number) => 100 * (ratio - 1)
