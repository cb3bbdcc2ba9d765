import type { Credits } from '../../contract/contract.ts'

/** What a policy charges at the least and at the most in each stretch. */
export interface Ranges {
  readonly least: Float64Array
  readonly most: Float64Array
}

/** Combinations of policies that are tried at most: beyond this nothing is proven. */
const mostTries = 20_000_000

export const ranges = (count: number): Ranges => ({
  least: new Float64Array(count),
  most: new Float64Array(count),
})

export function add({ least, most }: Ranges, at: number, surely: Credits, perhaps: Credits): void {
  if (at < 0 || at >= least.length) return
  least[at] = least[at]! + surely
  most[at] = most[at]! + perhaps
}

/** Without those that charge the same everywhere. */
export function unlike(policies: readonly Ranges[]): readonly Ranges[] {
  return [
    ...new Map(policies.map((each) => [`${each.least.join()};${each.most.join()}`, each])).values(),
  ]
}

/** The combination of simple policies that leaves the fewest credits over, and those for each stretch. */
export function nearestOf(
  taken: readonly Credits[],
  fixed: Ranges,
  kinds: readonly (readonly (Ranges & { readonly charged: readonly number[] })[])[],
) {
  let best = { off: taken.map(() => Infinity), charged: new Set<number>() }
  let bestSum = Infinity
  const walk = (nth: number, sums: Ranges, charged: readonly number[]) => {
    if (nth < kinds.length) {
      for (const policy of kinds[nth]!) {
        walk(nth + 1, plus(sums, policy), [...charged, ...policy.charged])
      }
      return
    }
    const off = taken.map((credits, at) =>
      credits < sums.least[at]! ? credits - sums.least[at]! : Math.max(0, credits - sums.most[at]!),
    )
    const sum = off.reduce((total, credits) => total + Math.abs(credits), 0)
    if (sum >= bestSum) return
    bestSum = sum
    best = { off, charged: new Set(charged) }
  }
  walk(0, fixed, [])
  return best
}

function plus(a: Ranges, b: Ranges): Ranges {
  return {
    least: a.least.map((credits, at) => credits + b.least[at]!),
    most: a.most.map((credits, at) => credits + b.most[at]!),
  }
}

/** Whether some combination explains all stretches; true when there are too many to tell. */
export function mayFit(
  taken: readonly Credits[],
  fixed: Ranges,
  kinds: readonly (readonly Ranges[])[],
): boolean {
  // What the kinds from `nth` on charge at the least and at the most, by any of their policies.
  const onward: Ranges[] = [ranges(taken.length)]
  for (const policies of [...kinds].reverse()) {
    const widest = {
      least: onward[0]!.least.map((_, at) => Math.min(...policies.map(({ least }) => least[at]!))),
      most: onward[0]!.most.map((_, at) => Math.max(...policies.map(({ most }) => most[at]!))),
    }
    onward.unshift(plus(onward[0]!, widest))
  }
  // Those that charge the same in one stretch fail there together.
  const key = taken.length >> 1
  const groups = kinds.map((policies) => [
    ...Map.groupBy(policies, ({ least, most }) => `${least[key]} ${most[key]}`).values(),
  ])
  let tries = 0
  const isWithin = (at: number, sums: Ranges, policy: Ranges, rest: Ranges) =>
    sums.least[at]! + policy.least[at]! + rest.least[at]! <= taken[at]! &&
    sums.most[at]! + policy.most[at]! + rest.most[at]! >= taken[at]!
  const isWithinAll = (sums: Ranges, policy: Ranges, rest: Ranges) => {
    for (let at = 0; at < taken.length; at++) if (!isWithin(at, sums, policy, rest)) return false
    return true
  }
  const walk = (nth: number, sums: Ranges): boolean =>
    nth === kinds.length ||
    groups[nth]!.some(
      (group) =>
        isWithin(key, sums, group[0]!, onward[nth + 1]!) &&
        group.some(
          (policy) =>
            tries++ > mostTries ||
            (isWithinAll(sums, policy, onward[nth + 1]!) && walk(nth + 1, plus(sums, policy))),
        ),
    )
  return walk(0, fixed)
}
