import type { Credits } from '../../../../contract/contract.ts'
import { type IntervalReading, readIntervals, sum } from '../charge-intervals.ts'
import { type BalanceHistory, effects } from '../history.ts'
import type { Operations } from '../operations.ts'
import { delayedWithin } from './delayed-within.ts'
import {
  type Charges,
  kindsOf,
  type Policy,
  plainPolicies,
  policyOf,
  type Sight,
} from './policies.ts'
import { fromSomePoint } from './progress.ts'
import { latenessOf, type Timing, timingOf } from './timing.ts'

/**
 * Whether the credits of stray balance gaps are proven to be charged wrongly: no legal policy explains them.
 *
 * All combinations of policies whose charges equal the credits in the other balance gaps are tried; it is proven if there are
 * some, and the charge intervals contradict each. Not covered: a service that notices an abort later than twice the shortest
 * exchange, that charges by chance, or from a point in the middle of a kind whose sum equals another combination's.
 *
 * @param uncertain credits in balance gaps that only abandoned attempts can explain
 * @param astray the part of those that the likeliest policy leaves unexplained
 */
export function isChargedWrongly(
  history: BalanceHistory,
  operations: Operations,
  uncertain: Credits,
  astray: Credits,
): boolean {
  const timing = timingOf(history)
  const sight = sightOf(history, timing)
  const combinations = kindsOf(history, () => true)
    .map(({ rows }) => choicesOf(history, rows, timing, sight))
    .reduce<readonly (readonly Choice[])[]>(
      (some, choices) => some.flatMap((taken) => choices.map((choice) => [...taken, choice])),
      [[]],
    )
    // What is left of the credits if a combination charges the least it may, and the most.
    .map((choices) => ({
      choices,
      rest: uncertain - sum(choices.map(({ least }) => least)),
      spare: uncertain - sum(choices.map(({ most }) => most)),
    }))
    .filter(({ rest, spare }) => rest >= 0 && spare <= astray)
  return (
    combinations.length > 0 &&
    combinations.every(({ choices, rest }) => {
      const policies = choices.map(({ within }) => within(rest))
      return readUnder(operations, policies).conflictCount > 0
    })
  )
}

/** Reads the charge intervals as if the policies charged their attempts. */
export function readUnder(operations: Operations, policies: readonly Policy[]): IntervalReading {
  const tried = {
    ...operations,
    callUs: operations.callUs.slice(),
    untilUs: operations.untilUs.slice(),
    costCredits: operations.costCredits.slice(),
    certain: operations.certain.slice(),
  }
  for (const { rows, must, may, window } of policies) {
    for (const row of rows) {
      if (!may(row)) {
        tried.costCredits[row] = 0
        continue
      }
      const [fromUs, untilUs] = window(row)
      if (must(row)) tried.certain[row] = 1
      tried.callUs[row] = Math.max(tried.callUs[row]!, fromUs)
      tried.untilUs[row] = untilUs
    }
  }
  return readIntervals(tried)
}

/** A policy for one kind; `from` and `delayed` charge as much as the others leave over. */
interface Choice {
  readonly least: Credits
  /** Includes rows that the service may not have seen, or whose charge may be invisible. */
  readonly most: Credits
  /** @param rest credits that the certain charges of all kinds leave over */
  within(rest: Credits): Policy
}

function choicesOf(
  history: BalanceHistory,
  rows: readonly number[],
  timing: Timing,
  sight: Sight,
): readonly Choice[] {
  const { callUs, endUs, costCredits } = history
  const { noticeUs } = timing
  const lastUs = endUs.reduce((last, us) => Math.max(last, us), -Infinity)
  const costOf = (some: readonly number[]) => sum(some.map((row) => costCredits[row]!))
  const plain = (charges: Charges): Choice => {
    const policy = policyOf(history, rows, charges, sight)
    return {
      least: costOf(rows.filter(policy.must)),
      most: costOf(rows.filter((row) => charges(row) !== false)),
      within: () => policy,
    }
  }
  const { none, all, ...some } = plainPolicies(history, timing)
  const isSome = (charges: Charges) => rows.some(charges) && !rows.every(charges)
  return [
    ...[none, all, ...Object.values(some).filter(isSome)].map(plain),
    {
      ...plain(none),
      within: (rest) =>
        policyOf(history, rows, fromSomePoint(history, rows, noticeUs, rest), sight, (row) => [
          callUs[row]!,
          Math.max(endUs[row]!, callUs[row]! + timing.longestOfStepUs(row)) + noticeUs,
        ]),
    },
    {
      ...plain(none),
      within: (rest) => {
        const { charges, window } = delayedWithin(history, rows, { lastUs, noticeUs }, rest)
        return policyOf(history, rows, charges, sight, window)
      },
    },
  ]
}

/** Charges before the first value or after the last one leave no balance gap. */
function sightOf(history: BalanceHistory, timing: Timing): Sight {
  const { size, callUs, readUs, effect, value } = history
  let [firstUs, lastUs] = [Infinity, -Infinity]
  for (let row = 0; row < size; row++) {
    if (effect[row] === effects.ambiguous || Number.isNaN(value[row]!)) continue
    firstUs = Math.min(firstUs, readUs[row]!)
    lastUs = Math.max(lastUs, callUs[row]!)
  }
  const lateUs = latenessOf(history, () => 0)
  return {
    shows: (row) => callUs[row]! > firstUs && timing.overUs(row) < lastUs,
    finished: (row) => timing.finished(row, timing.longestOfStepUs(row), lateUs(row)),
  }
}
