import {
  billingRule,
  credits,
  othersLookSo,
  passWithoutDoubt,
  witnessOf,
} from '../../evidence/balances.ts'
import { type BalanceReading, isRare } from '../../evidence/billing/balance-reading.ts'
import type { IntervalConflict } from '../../evidence/billing/charge-intervals.ts'
import { looksExpired } from '../../evidence/billing/expiry.ts'
import { effects } from '../../evidence/billing/history.ts'
import { placesOfStep } from '../../evidence/billing/step.ts'
import { suspectsOf } from '../../evidence/billing/suspects.ts'
import type { Verdict } from '../../verdict.ts'
import { bracketOf, roleOf, staleHeader, tell, telling } from './history-evidence.ts'
import { unlikeMeanings } from './unlike-meanings.ts'

export const bill11 = billingRule({
  id: 'BILL-11',
  title: 'The balances shown to concurrent requests fit one history',
  section: '§8.4',
  severity: 'must',
  needs: ['passive', 'quiescence'],
  isOfConcurrency: true,
  explain: `Three tiers over the values of each account, on the client's monotonic clock. Which of them
are sound depends on what the header means, so each legal meaning is tried (after or before the own
charge, for plain answers and for streams; at the charge itself or read a moment later), and the rule
fails only when none of them explains the values.
Tier 3, exact: each charge covers an interval of the balance; charge intervals must not overlap, must follow real time,
and charges without a value, ambiguous ones among them, must fill each balance gap. Tier 1,
majorization: charges with values of x or more cost at most start - x together. Tier 2, bounds: every
value bounds the balance at the start, and the bounds must agree; no request sees more than a request
that ended before it.
When only the looser tiers fit, the values are not exact: a header read a little later than its charge,
or credits that are held and returned. Then errors that cancel between two observations cannot be
detected, and a single contradiction among thousands of exact values is inconclusive. A balance gap is reported with
its time and the requests in flight, at most the 64 likeliest.
Among abandoned attempts, any balance gap of a chain may be the wrong one. Each kind gets the delay at
which most of it is charged, after its call or its abandonment. The reported balance gap is the one that remains
at the least distance. If others are about as likely, the finding says so and names their suspects,
too.
A price that the specification leaves open (reads, gap G-17) is the same for all requests of its endpoint: a balance gap
that only some of them would fill is a failure. If one or two reads alone explain a balance gap, or abandoned attempts
that no policy determines, it is inconclusive, never a pass.
Abandoned attempts may fill balance gaps, but by one policy for each kind (aborted or
timed out, streamed or plain): none is charged; all are; those that had received text; those that had progressed
furthest; each after a delay; and in addition those that the service had finished when it noticed that
the client was gone. A balance gap that no combination of these explains is a failure. A balance gap that some combination
explains, and the likeliest does not, is inconclusive. The policies exclude a cancel that is lost for longer than
two of the shortest exchanges, and charges by chance.
If the values are not exact, the sums decide. An idle value is settled if every request abandoned before it must
have ended, by the longest success. Between two settled values the balance falls by the successes and by
the same policies, including prices that are held and returned later. If no combination of these fits all
stretches, and all but a few credits in fifty attempts are explained, it fails; the position is the step
in the values after held credits are added. A policy that does not determine which attempts it charges, such as
a threshold among attempts with about equal progress, fits almost any sums. It explains them
only if such sums are likelier than one in a million for each wrong charge that it would excuse. This
needs many stretches, each with many abandoned attempts whose step (or one that sends the same)
shows how long a success takes. A package or grant that is added meanwhile is taken out of the values,
and the rule decides both sides of it. Other traffic on the account looks like a double charge.
If the values of each account are exact, but no meaning of the header makes all of them exact, the rule is inconclusive:
the header of some accounts lags, or it means something else for them.`,
  decideBy(readings, { contract }) {
    const concurrent = readings.filter(isConcurrent)
    if (concurrent.length === 0) {
      return {
        verdict: 'not-observed',
        requires: 'requests of one account in flight at the same time',
      }
    }
    const observations = concurrent.reduce((sum, reading) => sum + reading.observations, 0)
    const verdicts = concurrent.map((reading) =>
      verdictOf(
        reading,
        observations,
        (contract.packages ?? []).some((each) => each.validMonths !== null),
      ),
    )
    return (
      verdicts.find((verdict) => verdict.verdict === 'fail') ??
      verdicts.find((verdict) => verdict.verdict === 'inconclusive') ??
      unlikeMeanings(readings, observations) ??
      passWithoutDoubt(concurrent, observations, noteOf(concurrent))
    )
  },
})

/** Whether two requests with a price were ever in flight together. */
function isConcurrent({ history }: BalanceReading): boolean {
  let busyUntil = -Infinity
  for (let row = 0; row < history.size; row++) {
    if (history.effect[row] !== effects.charge && history.effect[row] !== effects.ambiguous)
      continue
    if (history.callUs[row]! < busyUntil) return true
    busyUntil = Math.max(busyUntil, history.endUs[row]!)
  }
  return false
}

function verdictOf(reading: BalanceReading, observations: number, expires: boolean): Verdict {
  const { fits, intervals, history } = reading
  switch (fits) {
    case 'exact': {
      const [stray] = reading.stray
      if (stray === undefined)
        return byTotals(reading, observations) ?? { verdict: 'pass', observations }
      const { observed, witnesses } = tell(reading, stray)
      if (reading.isProven() || reading.settled()?.isProven === true) {
        return {
          verdict: 'fail',
          observations,
          expected: `account ${history.account}: credits charged for successes, and by one policy for ${reading.ambiguous} abandoned attempts`,
          observed,
          witnesses,
          note: `No legal policy for abandoned requests explains it (see --explain BILL-11). ${othersLookSo}`,
        }
      }
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: ${observed}. One policy explains the cost of the other ${reading.ambiguous} ambiguous attempts. Either one of them was charged against that policy, or a request in flight was charged wrongly.`,
        witnesses,
      }
    }
    case 'late':
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: ${reading.doubt ?? `the values fit only if charges settle up to ${reading.settleUs / 1e6} s after their response; the final balance is right`}`,
      }
    case 'loose': {
      const conflict = intervals.conflicts[0]
      const proven = byTotals(reading, observations)
      if (proven !== null) return proven
      if (conflict === undefined) return { verdict: 'pass', observations }
      if (intervals.missingCredits > 0) {
        const balanceGap =
          intervals.conflicts.find(({ kind }) => kind === 'balance-gap') ?? conflict
        const { observed, witnesses } = tell(reading, balanceGap)
        const why = `account ${history.account}: ${observed}; ${reading.doubt}`
        return { verdict: 'inconclusive', observations, why, witnesses }
      }
      if (!isAlone(reading)) return { verdict: 'pass', observations }
      const { observed, witnesses } = tell(reading, conflict)
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: ${observed}, once among ${intervals.placed} values that are exact otherwise. A header read a moment late explains it, and so does a wrong charge that was given back.`,
        witnesses,
      }
    }
    case 'none': {
      const conflict =
        reading.stray[0] ?? intervals.conflicts.find(isPlacedBalanceGap) ?? intervals.conflicts[0]
      const stale = staleHeader(reading)
      const told = stale ?? telling(reading, conflict)
      const places =
        reading.intervals.conflictCount > 1 && stale === null
          ? `${reading.intervals.conflictCount} such places; the first is shown.`
          : ''
      // Traffic of others can take credits, but not return any.
      const others = stale === null && conflict?.kind === 'balance-gap' ? othersLookSo : ''
      const note = `${places} ${others}`.trim()
      const huge =
        conflict?.kind === 'balance-gap' && looksExpired(conflict.unexplained, reading.charges)
      if (huge && expires) {
        return {
          verdict: 'inconclusive',
          observations,
          why: `account ${history.account}: ${told.observed}. Credits that expired would look the same.`,
          witnesses: told.witnesses,
        }
      }
      return {
        verdict: 'fail',
        observations,
        expected: `account ${history.account}: a history in which every charge applies once, to the balance after the charge before it`,
        observed: told.observed,
        witnesses: told.witnesses,
        ...(note === '' ? {} : { note }),
      }
    }
  }
}

/** A balance gap that ends before it begins is the counterpart of a rise. */
function isPlacedBalanceGap(conflict: IntervalConflict): boolean {
  return conflict.kind === 'balance-gap' && conflict.balanceGap.fromUs <= conflict.balanceGap.toUs
}

/** The verdict from the sums between settled values, when the values themselves are inconsistent. */
function byTotals(reading: BalanceReading, observations: number): Verdict | null {
  const settled = reading.settled()
  if (settled === null) return null
  const { history, meaning } = reading
  const [likeliest, ...others] = placesOfStep(history, meaning, settled)
  if (likeliest === undefined) return null
  const suspects = suspectsOf(history, [likeliest, ...others], settled.credits, settled.charged)
  const [first = settled.to, ...rest] = suspects.rows
  const observed = `${credits(settled.credits)} more between slots ${history.slot[settled.from]} and ${history.slot[settled.to]}, likeliest ${bracketOf(likeliest, suspects)}`
  const witnesses = [
    witnessOf(reading, first, roleOf(first, likeliest.balanceGap)),
    ...rest.map((row) => witnessOf(reading, row, roleOf(row, likeliest.balanceGap))),
  ] as const
  const abandoned = `${reading.ambiguous} abandoned attempts`
  if (!settled.isProven) {
    return {
      verdict: 'inconclusive',
      observations,
      why: `account ${history.account}: ${observed}. Successes and one plain policy explain the cost of the other ${abandoned}. Either one of them was charged against that policy, or a request in flight was charged wrongly.`,
      witnesses,
    }
  }
  return {
    verdict: 'fail',
    observations,
    expected: `account ${history.account}: between two settled values, credits charged for successes, and by one policy for ${abandoned}`,
    observed,
    witnesses,
    note: `No legal policy for abandoned requests explains it (see --explain BILL-11). ${othersLookSo}`,
  }
}

/** Whether there are few contradictions among many exact values, and no requests that may have held credits. */
function isAlone({ intervals, history, ambiguous }: BalanceReading): boolean {
  if (!isRare(intervals)) return false
  const failures = history.effect.some(
    (effect, row) => effect === effects.failure && history.costCredits[row]! > 0,
  )
  return ambiguous === 0 && !failures
}

function noteOf(readings: readonly BalanceReading[]): { readonly note?: string } {
  const loose = readings.filter((reading) => reading.fits === 'loose')
  const uncertain = readings.reduce((sum, reading) => sum + reading.intervals.uncertainCredits, 0)
  if (loose.length > 0) {
    return {
      note: 'The header is not an exact balance: it is read a moment after its charge, or shows credits that are held and given back. Decided by tiers 1 and 2.',
    }
  }
  const added = readings.flatMap(({ gifts }) => gifts.map((gift) => gift.credits))
  if (added.length > 0) {
    return { note: `${added.join(' and ')} credits came in meanwhile; both sides are decided.` }
  }
  return uncertain > 0
    ? { note: `${credits(uncertain)} went to ambiguous attempts.` }
    : { note: 'Every value is exact: the header shows the balance at each charge.' }
}
