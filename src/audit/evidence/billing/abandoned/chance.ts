import type { Credits } from '../../../../contract/contract.ts'
import { logChoose } from '../../choose.ts'
import type { Ranges } from './ranges.ts'

/**
 * The natural logarithm of the likelihood of the sums of all stretches, if each part (the policy for one kind of abandoned
 * attempts) takes at least its minimum, and each further credit with one probability in all stretches.
 *
 * A policy that leaves many attempts open fits almost any sums; a real one would scatter. Each stretch is a sum of binomials,
 * whose probabilities are fitted by least squares, weighted by the variance, and kept off 0 and 1 by half a credit. 0 if every
 * part is certain and the sums match.
 *
 * @param taken credits of each stretch, beyond what is explained otherwise
 */
export function logLikelihoodOf(taken: readonly Credits[], parts: readonly Ranges[]): number {
  const beyondLeast = taken.map((credits, at) =>
    parts.reduce((rest, { least }) => rest - least[at]!, credits),
  )
  const open = parts
    .map(({ least, most }) => most.map((credits, at) => credits - least[at]!))
    .filter((widths) => widths.some((width) => width > 0))
  const chances = chancesOf(beyondLeast, open)
  return beyondLeast.reduce((sum, credits, at) => {
    const sums = open.reduce<readonly number[]>(
      (before, widths, part) => convolved(before, binomial(widths[at]!, chances[part]!)),
      [1],
    )
    return sum + Math.log(sums[credits] ?? 0)
  }, 0)
}

/** Least squares for one part after the other, in rounds: as many as it takes to converge. */
function chancesOf(
  beyondLeast: readonly Credits[],
  open: readonly Float64Array[],
): readonly number[] {
  const chances = open.map(() => 0.5)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const variance = beyondLeast.map((_, at) =>
      open.reduce(
        (sum, widths, part) => sum + widths[at]! * chances[part]! * (1 - chances[part]!),
        leastVariance,
      ),
    )
    for (const [part, widths] of open.entries()) {
      let [projection, norm, openCredits] = [0, 0, 0]
      for (const [at, width] of widths.entries()) {
        const rest = open.reduce(
          (left, other, nth) => (nth === part ? left : left - other[at]! * chances[nth]!),
          beyondLeast[at]!,
        )
        projection += (width * rest) / variance[at]!
        norm += (width * width) / variance[at]!
        openCredits += width
      }
      const edge = 1 / (2 * openCredits)
      chances[part] = Math.min(1 - edge, Math.max(edge, projection / norm))
    }
  }
  return chances
}

const sweeps = 20
/** Added to each variance, so that a stretch with hardly anything open weighs at most 10. */
const leastVariance = 0.1

/** Probabilities of 0 to `count` successes. */
function binomial(count: number, chance: number): readonly number[] {
  return Array.from({ length: count + 1 }, (_, some) =>
    Math.exp(
      logChoose(count, some) + some * Math.log(chance) + (count - some) * Math.log(1 - chance),
    ),
  )
}

/** Probabilities of the sum of two variables. */
function convolved(a: readonly number[], b: readonly number[]): readonly number[] {
  const sums: number[] = []
  for (const [x, one] of a.entries()) {
    for (const [y, other] of b.entries()) sums[x + y] = (sums[x + y] ?? 0) + one * other
  }
  return sums
}
