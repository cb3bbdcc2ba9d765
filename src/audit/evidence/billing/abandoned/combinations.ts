import type { Credits } from '../../../../contract/contract.ts'
import { logLikelihoodOf } from './chance.ts'
import { type Ranges, ranges } from './ranges.ts'

/** Most combinations of policies to try. Above this, nothing is proven. */
const mostTries = 20_000_000

/** Removes policies with the same charges everywhere. */
export function unlike(policies: readonly Ranges[]): readonly Ranges[] {
  return [
    ...new Map(policies.map((each) => [`${each.least.join()};${each.most.join()}`, each])).values(),
  ]
}

/** The combination of plain policies that leaves the fewest credits over, with those credits by stretch. */
export function nearestOf(
  taken: readonly Credits[],
  fixed: Ranges,
  kinds: readonly (readonly (Ranges & { readonly charged: readonly number[] })[])[],
) {
  let best = { off: taken.map(() => Infinity), charged: new Set<number>() }
  let bestSum = Infinity
  const walk = (nth: number, sums: Ranges, charged: readonly number[]) => {
    if (nth < kinds.length) {
      for (const policy of kinds[nth]!)
        walk(nth + 1, plus(sums, policy), [...charged, ...policy.charged])
      return
    }
    const off = taken.map(
      (credits, at) =>
        Math.min(0, credits - sums.least[at]!) + Math.max(0, credits - sums.most[at]!),
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

/** Whether a combination at least as likely as `leastLog` explains all stretches; true if there are too many to try. */
export function isLegal(
  taken: readonly Credits[],
  fixed: Ranges,
  kinds: readonly (readonly Ranges[])[],
  leastLog: number,
): boolean {
  // The kind with the most policies comes last: of its policies, those without open charges are looked up.
  const left = possible(taken, fixed, kinds).sort((a, b) => b.length - a.length)
  const [last = [], ...others] = left
  if (left.some((policies) => policies.length === 0)) return false
  const isSure = ({ least, most }: Ranges) => least.every((credits, at) => credits === most[at])
  const [sure, open] = [last.filter(isSure), last.filter((policy) => !isSure(policy))]
  const byLeast = new Map(sure.map((policy) => [policy.least.join(), policy]))
  let tries = 0
  const explains = (sums: Ranges, parts: readonly Ranges[], policy: Ranges): boolean =>
    tries++ > mostTries ||
    (fits(taken, sums, policy) && logLikelihoodOf(taken, [...parts, policy]) >= leastLog)
  const ends = (sums: Ranges, parts: readonly Ranges[]): boolean => {
    const explainsWith = (policy: Ranges) => explains(sums, parts, policy)
    if (open.some(explainsWith)) return true
    if (!isSure(sums)) return sure.some(explainsWith)
    // The remaining credits must match exactly.
    const policy = byLeast.get(sums.least.map((credits, at) => taken[at]! - credits).join())
    return policy !== undefined && explainsWith(policy)
  }
  const walk = (nth: number, sums: Ranges, parts: readonly Ranges[]): boolean =>
    nth === others.length
      ? ends(sums, parts)
      : others[nth]!.some((policy) => walk(nth + 1, plus(sums, policy), [...parts, policy]))
  return walk(0, fixed, [fixed])
}

function fits(taken: readonly Credits[], sums: Ranges, policy: Ranges): boolean {
  for (let at = 0; at < taken.length; at++) {
    if (sums.least[at]! + policy.least[at]! > taken[at]!) return false
    if (sums.most[at]! + policy.most[at]! < taken[at]!) return false
  }
  return true
}

/** Policies that, in each stretch alone, fit with some policy of each other kind. */
function possible(
  taken: readonly Credits[],
  fixed: Ranges,
  kinds: readonly (readonly Ranges[])[],
): (readonly Ranges[])[] {
  const left = [...kinds]
  for (let before = Infinity, now = sizeOf(left); now < before; before = now, now = sizeOf(left)) {
    for (const nth of left.keys()) {
      const rest = left.reduce(
        (sums, policies, other) => (other === nth ? sums : plus(sums, widestOf(policies))),
        fixed,
      )
      left[nth] = left[nth]!.filter((policy) => fits(taken, rest, policy))
    }
  }
  return left
}

const sizeOf = (kinds: readonly (readonly Ranges[])[]): number =>
  kinds.reduce((sum, policies) => sum + policies.length, 0)

function widestOf(policies: readonly Ranges[]): Ranges {
  const [first = ranges(0)] = policies
  const [least, most] = [first.least.slice(), first.most.slice()]
  for (const policy of policies) {
    for (let at = 0; at < least.length; at++) {
      least[at] = Math.min(least[at]!, policy.least[at]!)
      most[at] = Math.max(most[at]!, policy.most[at]!)
    }
  }
  return { least, most }
}
