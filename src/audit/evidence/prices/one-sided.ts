import {
  absolute,
  add,
  compare,
  decimalText,
  divide,
  multiply,
  type Rational,
  rational,
  roundTo,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'

/** Costs that are rounded up, though nobody promised it. */
export interface OneSided {
  readonly summary: string
  /** False if too few different costs say it: they may be so by chance. */
  readonly isSure: boolean
  /** The costs that no rounding to the nearest gives. */
  readonly shown: readonly Judged[]
  readonly first: Judged
}

/** So many different costs that are all too high happen once in a million by chance. */
const leastOneSided = 20
/** Of fewer than these, nobody says anything. */
const leastDoubtful = 5
const leastBeyond = 3

/** The same test for all amounts, and for those of one form or model: rounding elsewhere hides nothing. Null if none is one-sided. */
export function roundedUpSomewhere(judged: readonly Judged[]): OneSided | null {
  const groups = [
    new Map([['', judged]]),
    Map.groupBy(judged, ({ request }) =>
      request.isStream ? 'of streams: ' : 'of plain answers: ',
    ),
    Map.groupBy(judged, ({ request }) => `of ${request.requestedModel}: `),
  ]
  const found = groups
    .flatMap((group) => [...group])
    .flatMap(([where, amounts]) => {
      const one = roundedUp(amounts)
      return one === null ? [] : [{ ...one, summary: `${where}${one.summary}` }]
    })
  return found.find(({ isSure }) => isSure) ?? found[0] ?? null
}

/** A cost, and how far above the exact one it is. */
interface Off {
  readonly each: Judged
  readonly apart: Rational
}

/**
 * Amounts that are rounded up, by a sign test. A cost that is more than half of the last place away from the exact one was not
 * rounded to the nearest: either all different costs are above the exact ones, some of them so far; or many more are so far above
 * than below.
 */
function roundedUp(judged: readonly Judged[]): OneSided | null {
  const off = offsOf(judged)
  const half = ({ each }: Off) => multiply(each.unit, rational(1n, 2n))
  const above = off.filter((one) => compare(one.apart, half(one)) > 0)
  const below = off.filter((one) => compare(one.apart, multiply(half(one), rational(-1n))) < 0)
  const sum = off.map(({ apart }) => apart).reduce(add, zero)
  const first = above[0]?.each
  if (first === undefined || above.length < leastBeyond || sum.numerator <= 0n) return null
  const shown = above.map(({ each }) => each)
  const share = `by ${shareOf(sum, off)} % together`
  if (off.every(({ apart }) => apart.numerator > 0n)) {
    if (off.length < leastDoubtful) return null
    const all = `all ${off.length} different costs are above the exact one, ${share}`
    const isSure = off.length >= leastOneSided
    const summary = isSure
      ? `${all}: each is rounded up to ${decimalText(first.unit)}. By chance this happens once in 2^${off.length}`
      : `${all}: each is rounded up, or by chance once in 2^${off.length}`
    return { summary, isSure, shown, first }
  }
  const bits = bitsOf(above.length, below.length)
  if (bits < leastOneSided) return null
  return {
    summary: `of ${off.length} different costs, ${above.length} are more than half of ${decimalText(first.unit)} above the exact one and ${below.length} below it, ${share}: they are rounded up to ${decimalText(first.unit)} more often than down. By chance this happens once in 2^${bits}`,
    isSure: true,
    shown,
    first,
  }
}

/** Whether a cost is right, and nobody promised to round it. */
export const isUnrounded = ({ is, expected }: Judged): boolean =>
  is === 'right' && expected.costs.length === 1 && expected.readings[0]?.model.round === null

/** Right costs that nobody promised to round, with how far they are off. Equal costs are rounded alike, and say it once. */
function offsOf(judged: readonly Judged[]): readonly Off[] {
  const exact = judged.filter(isUnrounded)
  const byCost = new Map(
    exact.map((each) => [
      `${decimalText(each.expected.costs[0]!)} ${each.statement.text}`,
      { each, apart: subtract(each.statement.value, each.expected.costs[0]!) },
    ]),
  )
  return [...byCost.values()].filter(
    ({ each, apart }) => compare(absolute(apart), multiply(each.unit, rational(1n, 1000n))) >= 0,
  )
}

function shareOf(sum: Rational, off: readonly Off[]): string {
  const whole = off.map(({ each }) => each.expected.costs[0]!).reduce(add, zero)
  return decimalText(roundTo(divide(multiply(sum, rational(100n)), whole), 1, 'half_even'))
}

/** So many signs of one kind or more, among these, come by chance once in 2 to the power of this. */
function bitsOf(above: number, below: number): number {
  const all = above + below
  let [ways, sum] = [1n, 1n]
  // From none below to as many as there are.
  for (let some = 1; some <= below; some++) {
    ways = (ways * BigInt(all - some + 1)) / BigInt(some)
    sum += ways
  }
  return all - sum.toString(2).length
}
