import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects } from '../../evidence/billing/history.ts'
import {
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  untested,
  type Verdict,
} from '../../verdict.ts'
import { clearStretches, countRows, isAccounted, rowsOf, type SeenStretch } from './stretches.ts'

const explain = `A stretch between two idle values of the balance that contains failures and no success
must not change the balance. If the stretch also contains successes, a charge for failures is
reported if it alone explains every stretch, and no stretch without a failure took too much. Under
concurrency failures are proven free if every value fits an exact history (BILL-11). One class of
failure per phase, with idle reads in between, isolates each cost. A pass names the statuses that were seen and not compared.`

export const bill05 = billingRule({
  id: 'BILL-05',
  title: 'A request that is refused with a 4xx is not charged',
  section: '§8.4.3',
  needs: ['active', 'quiescence'],
  explain,
  decideBy: (readings) => decideFree(readings, 400, 'a 4xx between two idle values of the balance'),
})

export const bill06 = billingRule({
  id: 'BILL-06',
  title: 'A request that fails with a 5xx is not charged',
  section: '§8.4.3',
  needs: ['passive', 'quiescence'],
  explain,
  decideBy: (readings) =>
    decideFree(
      readings,
      500,
      'a 5xx between two idle values; a service that never fails shows none',
    ),
})

/** @param hundred 400 or 500: the class of statuses */
function decideFree(
  readings: readonly BalanceReading[],
  hundred: number,
  requires: string,
): Verdict {
  const all = clearStretches(readings).map((seen) => ({ seen, statuses: statusesOf(seen) }))
  const stretches = all.filter(({ statuses }) => statuses.size > 0)
  const isAnotherCause = all.some(
    ({ seen, statuses }) => statuses.size === 0 && seen.stretch.excess > 0,
  )
  // If something other than failures took too much, a success of the stretch may have been overcharged.
  const telling = stretches.filter(
    ({ seen, statuses }) => statuses.size === 1 && (seen.stretch.charges === 0 || !isAnotherCause),
  )
  const ours = stretches.filter(({ statuses }) => [...statuses.keys()].some(isOurs))
  const charged = ours.filter(({ seen }) => seen.stretch.excess > 0)

  const alone = charged.find(
    ({ seen, statuses }) =>
      seen.stretch.charges === 0 &&
      [...statuses.keys()].every(isOurs) &&
      // An excess above their possible cost was taken by others.
      seen.stretch.excess <= Math.max(sumOf(statuses, isOurs), costOfFailures(seen)),
  )
  const guilty = alone ?? consistent(telling)
  const proven = readings.filter(isAccounted).reduce((sum, { history }) => {
    const failed = (row: number) =>
      history.effect[row] === effects.failure && isOurs(history.status[row]!)
    return sum + countRows(history, failed)
  }, 0)
  const quiet = ours
    .filter(({ seen }) => seen.stretch.excess <= 0)
    .reduce((sum, { statuses }) => sum + sumOf(statuses, isOurs), 0)
  const observations =
    Math.max(proven, quiet) +
    charged.reduce((sum, { statuses }) => sum + sumOf(statuses, isOurs), 0)

  if (guilty !== undefined) {
    const { seen, statuses } = guilty
    const rows = rowsOf(seen, 'failure').filter((row) => isOurs(seen.reading.history.status[row]!))
    const names = [...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')
    return fail(observations, {
      expected: `account ${seen.reading.history.account}: nothing charged for failures (${names})`,
      observed: `${credits(seen.stretch.excess)} charged`,
      witnesses: [
        witnessOf(seen.reading, rows[0]!, 'failed, and the balance fell'),
        ...rows
          .slice(1, 5)
          .map((row) => witnessOf(seen.reading, row, 'failed in the same stretch')),
      ],
    })
  }
  if (observations === 0) return notObserved(requires)
  const mixed = charged.find(({ seen }) => !isAccounted(seen.reading))
  if (mixed !== undefined) {
    return inconclusive(
      observations,
      `account ${mixed.seen.reading.history.account}: ${credits(mixed.seen.stretch.excess)} too much in a stretch that holds failures and ${mixed.seen.stretch.charges} successes; either may have been charged wrongly`,
    )
  }
  const sent = readings.flatMap(({ history }) => [...failuresOf(history)])
  const tested = [
    ...readings.filter(isAccounted).flatMap(({ history }) => [...failuresOf(history)]),
    ...ours
      .filter(({ seen }) => seen.stretch.excess <= 0)
      .flatMap(({ statuses }) => [...statuses.keys()].filter(isOurs)),
  ]
  return pass(observations, notesOf(untested(namesOf(sent), namesOf(tested))))

  /** Statuses of failures of this class. */
  function failuresOf({ size, effect, status }: BalanceReading['history']): ReadonlySet<number> {
    const seen = new Set<number>()
    for (let row = 0; row < size; row++) {
      if (effect[row] === effects.failure && isOurs(status[row]!)) seen.add(status[row]!)
    }
    return seen
  }

  function isOurs(status: number): boolean {
    return status >= hundred && status < hundred + 100
  }

  /** A stretch with failures of this class, if charging their status explains every stretch with it. */
  function consistent(single: readonly { seen: SeenStretch; statuses: Map<number, number> }[]) {
    const byStatus = Map.groupBy(single, ({ statuses }) => [...statuses.keys()][0]!)
    for (const [status, group] of byStatus) {
      const explains = group.every(({ seen, statuses }) => {
        const { excess } = seen.stretch
        return excess === statuses.get(status) || excess === costOfFailures(seen)
      })
      if (isOurs(status) && explains && group.length >= 2) return group[0]
    }
    return undefined
  }
}

const namesOf = (statuses: readonly number[]) =>
  [...new Set(statuses)].toSorted((a, b) => a - b).map(String)

/** The cost of a stretch's failures if they were successes. */
function costOfFailures(seen: SeenStretch): number {
  const { costCredits } = seen.reading.history
  return rowsOf(seen, 'failure').reduce((sum, row) => sum + costCredits[row]!, 0)
}

function statusesOf(seen: SeenStretch): Map<number, number> {
  const counts = new Map<number, number>()
  for (const row of rowsOf(seen, 'failure')) {
    const status = seen.reading.history.status[row]!
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

function sumOf(counts: Map<number, number>, choose: (status: number) => boolean): number {
  let sum = 0
  for (const [status, count] of counts) if (choose(status)) sum += count
  return sum
}
