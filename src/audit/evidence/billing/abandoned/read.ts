import type { Credits } from '../../../../contract/contract.ts'
import { once } from '../../../../user/once.ts'
import type { IntervalConflict, IntervalReading } from '../charge-intervals.ts'
import type { Conservation } from '../conservation.ts'
import { type BalanceHistory, effects } from '../history.ts'
import { type Operations, rowsWhere } from '../operations.ts'
import { isChargedWrongly, readUnder } from './by-gaps.ts'
import { chargedBeyondPolicies, type Settled } from './by-totals.ts'
import type { KnownPolicy } from './known-policy.ts'
import { type Charges, hasContent, hasHead, policyOf, type Sight } from './policies.ts'

/** What remains unexplained by the policies that a service may have for abandoned attempts. */
export interface Abandoned {
  /** Balance gaps that remain if all ambiguous attempts but these follow one charging policy. */
  readonly stray: readonly IntervalConflict[]
  /** Credits that ambiguous attempts took by no single policy; 0 if one policy explains them. */
  readonly openCredits: Credits
  /** Whether the stray balance gaps are proof: no legal combination of policies explains them. */
  readonly isProven: () => boolean
  /** Credits that the sums between settled values prove to be charged wrongly; null if there are none. */
  readonly settled: () => Settled | null
}

/** With fewer ambiguous attempts a policy cannot be distinguished from chance. */
export const fewAmbiguous = 50

/**
 * @param intervals the reading of tier 3; credits in its balance gaps that only ambiguous attempts can explain are open
 * @param fits how the values fit without any policy
 * @param operations returns a new copy of the history as tier 3 sees it, with streams
 * @param policy what a probe found about aborted requests; null if nothing
 */
export function readAbandoned(
  history: BalanceHistory,
  intervals: IntervalReading,
  fits: 'exact' | 'loose' | 'none',
  conservation: Conservation,
  operations: () => Operations,
  policy: KnownPolicy | null = null,
): Abandoned {
  const ambiguous = history.effect.reduce(
    (count, effect) => count + Number(effect === effects.ambiguous),
    0,
  )
  const isMany = ambiguous >= fewAmbiguous
  const isOpen = fits === 'exact' && intervals.uncertainCredits > 0
  const policies = policy?.(history) ?? onePolicies(history)
  const left = isOpen || isMany ? leftByOnePolicy(history, operations, policies) : nothingLeft
  const isStray =
    isMany &&
    left.conflictCount * 50 <= ambiguous &&
    left.conflicts.every((conflict) => conflict.kind === 'balance-gap')
  const stray = isStray ? left.conflicts : []
  const openCredits =
    fits === 'exact' && left.conflictCount > 0
      ? intervals.uncertainCredits
      : fits === 'loose'
        ? openInAll(history, conservation, policies)
        : 0
  return {
    stray,
    openCredits,
    isProven: once(
      () =>
        stray.length > 0 &&
        isChargedWrongly(
          history,
          operations(),
          intervals.uncertainCredits,
          stray.reduce(
            (sum, conflict) => sum + (conflict.kind === 'balance-gap' ? conflict.unexplained : 0),
            0,
          ),
        ),
    ),
    settled: once(() => (isMany ? chargedBeyondPolicies(history, conservation) : null)),
  }
}

/** Policies that apply to all kinds at once, if no probe has found one. */
const onePolicies = (history: BalanceHistory): readonly Charges[] => [
  () => false,
  () => true,
  hasContent(history),
  hasHead(history),
  (row) => history.streamed[row] === 1,
  (row) => history.streamed[row] === 0,
]

/** Every charge of one policy counts, and nothing beside it. */
const whole: Sight = { shows: () => true, finished: () => null }

type Left = Pick<IntervalReading, 'conflicts' | 'conflictCount'>
const nothingLeft: Left = { conflicts: [], conflictCount: 0 }

/**
 * The conflicts under the policy that leaves the fewest, reported if those are at most one per fifty attempts: a service has one
 * policy, and must not hide wrong charges behind many ambiguous attempts. They are no proof: a client may abort just as its
 * request completes.
 */
function leftByOnePolicy(
  history: BalanceHistory,
  operations: () => Operations,
  policies: readonly Charges[],
): Left {
  let best: Left | null = null
  const lingerUs = longestResponseUs(history)
  const { callUs, settlesByUs } = history
  const ambiguous = [...rowsWhere(history.size, (row) => history.effect[row] === effects.ambiguous)]
  for (const charges of policies) {
    const policy = policyOf(history, ambiguous, charges, whole, (row) => [
      callUs[row]!,
      Math.min(settlesByUs[row]!, callUs[row]! + lingerUs),
    ])
    const reading = readUnder(operations(), [policy])
    if (reading.conflictCount === 0) return nothingLeft
    if (best === null || reading.conflictCount < best.conflictCount) best = reading
  }
  return best!
}

/** After an abort, a service works at most as long as for its longest response. */
function longestResponseUs({ size, callUs, endUs }: BalanceHistory): number {
  let longest = 0
  for (let row = 0; row < size; row++) longest = Math.max(longest, endUs[row]! - callUs[row]!)
  return longest
}

/** Credits that ambiguous attempts took between the first and the last idle value, if no policy takes as many. */
function openInAll(
  history: BalanceHistory,
  { whole }: Conservation,
  policies: readonly Charges[],
): Credits {
  if (whole === null) return 0
  const went = whole.taken - whole.sure
  const rows: number[] = []
  for (let row = whole.from + 1; row < whole.to; row++) {
    if (history.effect[row] === effects.ambiguous) rows.push(row)
  }
  const costUnder = (charges: Charges) =>
    rows.reduce((sum, row) => sum + (charges(row) ? history.costCredits[row]! : 0), 0)
  return policies.some((charges) => costUnder(charges) === went) ? 0 : Math.max(0, went)
}
