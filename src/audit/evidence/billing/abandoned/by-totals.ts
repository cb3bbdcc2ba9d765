import type { Credits } from '../../../../contract/contract.ts'
import { countBelow } from '../../../../user/count-below.ts'
import { largest } from '../../../../user/extremes.ts'
import type { Conservation } from '../conservation.ts'
import { abandonments, type BalanceHistory, effects } from '../history.ts'
import { isLegal, nearestOf, unlike } from './combinations.ts'
import { delayedPolicies } from './delays.ts'
import { type Kind, kindsOf, type Policy, plainPolicies, policyOf, type Sight } from './policies.ts'
import { fromEachPoint } from './progress.ts'
import { add, type Ranges, ranges } from './ranges.ts'
import { latenessOf, type Timing, timingOf } from './timing.ts'

/**
 * Wrong charges that the sums alone prove, whatever the header means and however credits were held.
 *
 * An idle value is settled when all attempts abandoned before it must be over. Between two settled values the balance falls by
 * the cost of the successes, and by what each policy charges at least and at most. It is proven when no combination fits all
 * stretches except by coincidence (see `logLikelihoodOf`), and the plain policies leave only a few credits over.
 */
export interface Settled {
  /** Rows of the settled values around the unexplained credits. */
  readonly from: number
  readonly to: number
  readonly credits: Credits
  /** Whether no combination of policies explains them. If false, only the plain policies fail to. */
  readonly isProven: boolean
  /** Abandoned rows that the likeliest policy charges. */
  readonly charged: ReadonlySet<number>
}

/** @returns null if nothing is unexplained, or too much for a few wrong charges */
export function chargedBeyondPolicies(
  history: BalanceHistory,
  { idle, balance }: Conservation,
): Settled | null {
  const timing = timingOf(history)
  const settled = settledAmong(history, idle, timing)
  if (settled.length < 2) return null
  const readUs = settled.map((at) => history.callUs[idle[at]!]!)
  const count = settled.length - 1
  const stretchOf = (row: number) => countBelow(readUs, history.callUs[row]!) - 1
  const [lateUs, longUs] = [latenessOf(history, stretchOf), longestOf(history, timing, stretchOf)]
  const sight: Sight = {
    shows: () => true,
    finished: (row) => timing.finished(row, longUs(row), lateUs(row)),
  }
  const stretches: Stretches = { count, readUs, stretchOf, noticeUs: timing.noticeUs, sight }
  const taken = settled.slice(1).map((at, nth) => balance[settled[nth]!]! - balance[at]!)
  const fixed: Ranges = ranges(count)
  for (let row = 0; row < history.size; row++) {
    const cost = history.costCredits[row]!
    if (history.effect[row] === effects.charge) add(fixed, stretchOf(row), cost, cost)
    if (history.effect[row] === effects.ambiguous && history.abandonment[row] === abandonments.no)
      add(fixed, stretchOf(row), 0, cost)
  }
  const isWithin = (row: number) => stretchOf(row) >= 0 && stretchOf(row) < count
  const kinds = [
    ...kindsOf(history, (row) => history.costCredits[row] !== 0 && isWithin(row)),
  ].sort((a, b) => b.rows.length - a.rows.length)
  const simple = kinds.map(({ rows }) =>
    Object.values(plainPolicies(history, timing)).map((charges) => {
      const policy = policyOf(history, rows, charges, sight)
      return { ...rangesOf(history, stretches, policy), charged: rows.filter(policy.must) }
    }),
  )
  const nearest = nearestOf(taken, fixed, simple)
  const [abandoned, off] = [kinds.flatMap(({ rows }) => rows).length, nearest.off]
  if (off.every((credits) => credits === 0)) return null
  const astray = off.reduce((sum, credits) => sum + Math.abs(credits), 0)
  const widest = off.indexOf(largest(off))
  if (astray * 50 > abandoned || off[widest]! <= 0) return null

  const explained = () =>
    isLegal(
      taken,
      fixed,
      kinds.map((kind, nth) =>
        unlike([...simple[nth]!, ...otherPolicies(history, kind, stretches)]),
      ),
      off.filter((credits) => credits !== 0).length * Math.log(wrongCharge),
    )
  return {
    from: idle[settled[widest]!]!,
    to: idle[settled[widest + 1]!]!,
    credits: off[widest]!,
    // If a sum is too small, charges have moved from one stretch to another.
    isProven: abandoned * count <= mostWork && off.every((credits) => credits >= 0) && !explained(),
    charged: nearest.charged,
  }
}

interface Stretches {
  readonly count: number
  /** Read time of each settled value. */
  readonly readUs: readonly number[]
  /** Index of the stretch in which a row was called; -1 before all, `count` after all. */
  readonly stretchOf: (row: number) => number
  readonly noticeUs: number
  readonly sight: Sight
}

/** Assumed probability of a wrong charge. A combination that is less likely does not explain it. */
const wrongCharge = 1e-6
/** Attempts times stretches. Above this, nothing is proven. */
const mostWork = 100_000

/** The longest success of a row's step in the record; with enough in its stretch, twice their longest: stalls are local. */
function longestOf(
  history: BalanceHistory,
  timing: Timing,
  stretchOf: (row: number) => number,
): (row: number) => number {
  const { size, callUs, endUs, effect, step } = history
  const alike = new Map<string, { seen: number; longUs: number }>()
  const nameOf = (row: number) => `${step[row]} ${stretchOf(row)}`
  for (let row = 0; row < size; row++) {
    if (effect[row] !== effects.charge) continue
    const { seen = 0, longUs = 0 } = alike.get(nameOf(row)) ?? {}
    const tookUs = endUs[row]! - callUs[row]!
    alike.set(nameOf(row), { seen: seen + 1, longUs: Math.max(longUs, tookUs) })
  }
  return (row) => {
    const everUs = timing.longestOfStepUs(row)
    const { seen = 0, longUs = 0 } = alike.get(nameOf(row)) ?? {}
    return seen < enoughAlike ? everUs : Math.min(everUs, 2 * longUs)
  }
}

/** Successes of one step in a stretch that show how long others take there. */
const enoughAlike = 20

/** Indexes in `idle` of values after which all earlier abandoned attempts are over. */
function settledAmong(
  history: BalanceHistory,
  idle: Int32Array,
  timing: Timing,
): readonly number[] {
  const { size, callUs, effect } = history
  const settled: number[] = []
  let [row, lastUs] = [0, -Infinity]
  for (const [at, value] of idle.entries()) {
    for (; row < size && callUs[row]! <= callUs[value]!; row++) {
      if (effect[row] === effects.ambiguous) lastUs = Math.max(lastUs, timing.overUs(row))
    }
    if (callUs[value]! > lastUs) settled.push(at)
  }
  return settled
}

/** The charges of a policy by stretch: all within that of the call, which ends after the attempt is over. */
function rangesOf(
  { costCredits }: BalanceHistory,
  { stretchOf, count }: Stretches,
  policy: Policy,
) {
  const sums = ranges(count)
  for (const row of policy.rows) {
    const cost = costCredits[row]!
    add(sums, stretchOf(row), policy.must(row) ? cost : 0, policy.may(row) ? cost : 0)
  }
  return sums
}

/** The policies whose charges lie in other stretches than their calls, or that begin at some point. */
function otherPolicies(
  history: BalanceHistory,
  kind: Kind,
  stretches: Stretches,
): readonly Ranges[] {
  const { callUs, endUs, costCredits } = history
  const { stretchOf, readUs, noticeUs, sight } = stretches
  const from = fromEachPoint(history, kind, noticeUs).map((charges) =>
    rangesOf(history, stretches, policyOf(history, kind.rows, charges, sight)),
  )
  // A delay counts from the call or from the abort.
  const delayed = [callUs, endUs].flatMap((anchorUs) => {
    const leavers = kind.rows.map((row) => ({
      own: stretchOf(row),
      costCredits: costCredits[row]!,
      finishedCredits: sight.finished(row) === null ? 0 : costCredits[row]!,
      anchorUs: anchorUs[row]!,
    }))
    return delayedPolicies(leavers, readUs, noticeUs)
  })
  return [...from, ...delayed]
}
