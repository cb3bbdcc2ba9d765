import type { Credits } from '../../../../contract/contract.ts'
import type { Ranges } from './combinations.ts'

/**
 * How likely the sums of all stretches are when each part takes at least what is sure, and every further
 * credit up to its most with one probability, the same in all stretches.
 *
 * A policy that says of many attempts that they may be charged fits almost any sums by its ranges. One that
 * truly decides so would scatter: that it gives in each stretch the very sum of a plain policy is a
 * coincidence, and this tells how great a one. A sum of binomials for each stretch; the probability of each
 * part is that of least squares, weighted by the variance and kept off 0 and 1 by half a credit.
 *
 * @returns the natural logarithm of the likelihood; 0 where every part is sure and the sums are its own
 */
export function logLikelihoodOf(taken: readonly Credits[], parts: readonly Ranges[]): number {
  const over = taken.map((credits, at) =>
    parts.reduce((rest, { least }) => rest - least[at]!, credits),
  )
  const open = parts
    .map(({ least, most }) => most.map((credits, at) => credits - least[at]!))
    .filter((widths) => widths.some((width) => width > 0))
  const chances = chancesOf(over, open)
  return over.reduce((sum, credits, at) => {
    const sums = open.reduce<readonly number[]>(
      (before, widths, part) => joined(before, binomial(widths[at]!, chances[part]!)),
      [1],
    )
    return sum + Math.log(sums[credits] ?? 0)
  }, 0)
}

/** Least squares for one part after the other, until they agree with each other. */
function chancesOf(over: readonly Credits[], open: readonly Float64Array[]): readonly number[] {
  const chances = open.map(() => 0.5)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const variance = over.map((_, at) =>
      open.reduce(
        (sum, widths, part) => sum + widths[at]! * chances[part]! * (1 - chances[part]!),
        leastVariance,
      ),
    )
    for (const [part, widths] of open.entries()) {
      let [along, square, credits] = [0, 0, 0]
      for (const [at, width] of widths.entries()) {
        const rest = open.reduce(
          (left, other, nth) => (nth === part ? left : left - other[at]! * chances[nth]!),
          over[at]!,
        )
        along += (width * rest) / variance[at]!
        square += (width * width) / variance[at]!
        credits += width
      }
      const edge = 1 / (2 * credits)
      chances[part] = Math.min(1 - edge, Math.max(edge, along / square))
    }
  }
  return chances
}

const sweeps = 20
/** A stretch where hardly anything is open still weighs no more than ten that are. */
const leastVariance = 0.1

/** Probabilities of 0 to `count` of so many. */
function binomial(count: number, chance: number): readonly number[] {
  return Array.from({ length: count + 1 }, (_, some) =>
    Math.exp(
      logFactorial(count) -
        logFactorial(some) -
        logFactorial(count - some) +
        some * Math.log(chance) +
        (count - some) * Math.log(1 - chance),
    ),
  )
}

/** Probabilities of the sum of two. */
function joined(a: readonly number[], b: readonly number[]): readonly number[] {
  const sums: number[] = []
  for (const [x, one] of a.entries()) {
    for (const [y, other] of b.entries()) sums[x + y] = (sums[x + y] ?? 0) + one * other
  }
  return sums
}

const logFactorials = [0]

function logFactorial(of: number): number {
  for (let at = logFactorials.length; at <= of; at++) {
    logFactorials.push(logFactorials[at - 1]! + Math.log(at))
  }
  return logFactorials[of]!
}
