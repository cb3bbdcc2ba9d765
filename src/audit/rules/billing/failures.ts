import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects } from '../../evidence/billing/history.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { clearStretches, countRows, isAccounted, rowsOf, type Stretch } from './segments.ts'

const explain = `A stretch between two idle values of the balance that contains failures and no success
must not change the balance. If the stretch also contains successes, a charge for failures is
reported if it alone explains every stretch, and no stretch without a failure took too much. Under
concurrency failures are proven free if every value fits an exact history (BILL-11). One class of
failure per phase, with idle reads in between, isolates each cost.`

export const bill05 = billingRule({
  id: 'BILL-05',
  title: 'A request that is refused with a 4xx is not charged',
  section: '§8.4.3',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain,
  decideBy: (readings) => decideFree(readings, 400, 'a 4xx between two idle values of the balance'),
})

export const bill06 = billingRule({
  id: 'BILL-06',
  title: 'A request that fails with a 5xx is not charged',
  section: '§8.4.3',
  severity: 'must',
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
  const all = clearStretches(readings).map((stretch) => ({
    stretch,
    statuses: statusesOf(stretch),
  }))
  const stretches = all.filter(({ statuses }) => statuses.size > 0)
  const isAnotherCause = all.some(
    ({ stretch, statuses }) => statuses.size === 0 && stretch.excess > 0,
  )
  // If something other than failures took too much, a success of the stretch may have been overcharged.
  const telling = stretches.filter(
    ({ stretch, statuses }) =>
      statuses.size === 1 && (stretch.segment.charges === 0 || !isAnotherCause),
  )
  const ours = stretches.filter(({ statuses }) => [...statuses.keys()].some(isOurs))
  const charged = ours.filter(({ stretch }) => stretch.excess > 0)

  const alone = charged.find(
    ({ stretch, statuses }) =>
      stretch.segment.charges === 0 &&
      [...statuses.keys()].every(isOurs) &&
      // An excess above their possible cost was taken by others.
      stretch.excess <= Math.max(sumOf(statuses, isOurs), costOfFailures(stretch)),
  )
  const guilty = alone ?? consistent(telling)
  const proven = readings.filter(isAccounted).reduce((sum, { history }) => {
    const failed = (row: number) =>
      history.effect[row] === effects.failure && isOurs(history.status[row]!)
    return sum + countRows(history, failed)
  }, 0)
  const quiet = ours
    .filter(({ stretch }) => stretch.excess <= 0)
    .reduce((sum, { statuses }) => sum + sumOf(statuses, isOurs), 0)
  const observations =
    Math.max(proven, quiet) +
    charged.reduce((sum, { statuses }) => sum + sumOf(statuses, isOurs), 0)

  if (guilty !== undefined) {
    const { stretch, statuses } = guilty
    const rows = rowsOf(stretch, 'failure').filter((row) =>
      isOurs(stretch.reading.history.status[row]!),
    )
    const names = [...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')
    return fail(observations, {
      expected: `account ${stretch.reading.history.account}: nothing charged for failures (${names})`,
      observed: `${credits(stretch.excess)} charged`,
      witnesses: [
        witnessOf(stretch.reading, rows[0]!, 'failed, and the balance fell'),
        ...rows
          .slice(1, 5)
          .map((row) => witnessOf(stretch.reading, row, 'failed in the same stretch')),
      ],
    })
  }
  if (observations === 0) return notObserved(requires)
  const [mixed] = charged
  if (mixed !== undefined && proven === 0) {
    return inconclusive(
      observations,
      `account ${mixed.stretch.reading.history.account}: ${credits(mixed.stretch.excess)} too much in a stretch that holds failures and ${mixed.stretch.segment.charges} successes; either may have been charged wrongly`,
    )
  }
  return pass(observations)

  function isOurs(status: number): boolean {
    return status >= hundred && status < hundred + 100
  }

  /** A stretch with failures of this class, if charging their status explains every stretch with it. */
  function consistent(single: readonly { stretch: Stretch; statuses: Map<number, number> }[]) {
    const byStatus = Map.groupBy(single, ({ statuses }) => [...statuses.keys()][0]!)
    for (const [status, group] of byStatus) {
      const explains = group.every(({ stretch, statuses }) => {
        const { excess } = stretch
        return excess === statuses.get(status) || excess === costOfFailures(stretch)
      })
      if (isOurs(status) && explains && group.length >= 2) return group[0]
    }
    return undefined
  }
}

/** The cost of a stretch's failures if they were successes. */
function costOfFailures(stretch: Stretch): number {
  const { costCredits } = stretch.reading.history
  return rowsOf(stretch, 'failure').reduce((sum, row) => sum + costCredits[row]!, 0)
}

function statusesOf(stretch: Stretch): Map<number, number> {
  const counts = new Map<number, number>()
  for (const row of rowsOf(stretch, 'failure')) {
    const status = stretch.reading.history.status[row]!
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

function sumOf(counts: Map<number, number>, choose: (status: number) => boolean): number {
  let sum = 0
  for (const [status, count] of counts) if (choose(status)) sum += count
  return sum
}
