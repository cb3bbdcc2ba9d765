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
export interface Dearer extends Ratio {
  /** What is compared: `input`, or `output`. */
  readonly what: 'input' | 'output'
  /** Whether by prices; else by tokens alone, since a contract has no price. */
  readonly isOfMoney: boolean
  /** The title of the figure that is compared. */
  readonly by: string
  /** Texts of other scripts with a ratio of their own: an encoding, or a factor, may be that of one script alone. */
  readonly others: readonly OfScript[]
}

interface OfScript extends Ratio {
  /** `han` */
  readonly script: string
}

interface Ratio {
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
    const main = ratioOf(found.b!.value / found.a!.value, ratioBetween(found.a!, found.b!))
    const others =
      what === 'input'
        ? otherScripts(
            figures.filter(({ a }) => a?.model === found.a!.model),
            main,
          )
        : []
    return { what, by: found.title, isOfMoney: found.a!.unit !== undefined, ...main, others }
  })
}

function ratioOf(ratio: number, between: Ratio['between']): Ratio {
  const [low, high] = between ?? [ratio / (1 + alike), ratio * (1 + alike)]
  return { ratio, between, dearer: low > 1 ? 'b' : high < 1 ? 'a' : 'neither' }
}

/** The scripts whose ratio is not that of the first one, which is compared: each by its tokens, at the same prices. */
function otherScripts(figures: readonly ComparedFigure[], main: Ratio): readonly OfScript[] {
  const [first, ...others] = figures.flatMap(({ name, a, b }) => {
    const between = a === null || b === null ? null : ratioBetween(a, b)
    return name !== 'input_tokens' || between === null
      ? []
      : [{ script: (a!.of ?? '').split(',')[0]!, ratio: b!.value / a!.value, between }]
  })
  if (first === undefined) return []
  const price = main.ratio / first.ratio
  return others
    .filter(({ between: [low, high] }) => low > first.between[1] || high < first.between[0])
    .map(({ script, ratio, between: [low, high] }) => ({
      script,
      ...ratioOf(ratio * price, [low * price, high * price]),
    }))
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

/** `For the same text b takes 10.0 % more (9.8 to 10.2 %); but for texts of han a takes 20.1 % more (…).` */
export function dearerText({ what, isOfMoney, others, ...main }: Dearer): string {
  const takes = (of: string, { ratio, between, dearer }: Ratio) => {
    const range = rangeOf(between, dearer === 'a' ? 'a' : 'b')
    if (dearer === 'neither')
      return `${of} both ${isOfMoney ? 'take' : 'count'} as much, as far as the counts tell${range}`
    const more = excess(dearer === 'b' ? ratio : 1 / ratio).toFixed(1)
    return `${of} ${dearer} ${isOfMoney ? 'takes' : 'counts'} ${more} % more${range}`
  }
  const text = what === 'input' ? 'the same text' : 'an answer of the same text'
  const rest = others.map((each) => `; but for ${takes(`texts of ${each.script}`, each)}`)
  return `For ${takes(text, main)}${rest.join('')}.`
}

function rangeOf(between: Ratio['between'], side: 'a' | 'b'): string {
  if (between === null) return ''
  const [low, high] = between
    .map((each) => excess(side === 'b' ? each : 1 / each))
    .toSorted((x, y) => x - y)
  return ` (${low!.toFixed(1)} to ${high!.toFixed(1)} %)`
}

const excess = (ratio: number) => 100 * (ratio - 1)
