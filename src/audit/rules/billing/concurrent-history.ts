import type { Credits } from '../../../contract/contract.ts'
import {
  billingRule,
  credits,
  othersLookSo,
  passWithoutDoubt,
  witnessOf,
} from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { IntervalConflict } from '../../evidence/billing/charge-intervals.ts'
import { looksExpired } from '../../evidence/billing/expiry.ts'
import { effects } from '../../evidence/billing/history.ts'
import { isRare } from '../../evidence/billing/late.ts'
import { placesOfStep } from '../../evidence/billing/step.ts'
import { suspectsOf } from '../../evidence/billing/suspects.ts'
import { fail, firstOpen, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { bracketOf, roleOf, staleHeader, tell, tellShortest } from './history-evidence.ts'
import { unlikeMeanings } from './unlike-meanings.ts'

export const bill11 = billingRule({
  id: 'BILL-11',
  title: 'The balances shown to concurrent requests fit one history',
  section: '§8.4',
  needs: ['passive', 'quiescence'],
  isOfConcurrency: true,
  explain: [
    `The values of each account are read on the client's monotonic clock. What the header means is not known, so each
legal meaning is tried: the balance after or before the own charge, for plain answers and for streams, at the charge
itself or a moment later. The rule fails only when no meaning explains the values. It looks through three tiers,
the sharpest first:`,
    `- Tier 3, exact. Each charge covers an interval of the balance. The intervals do not overlap and follow real time, and
charges without a value, ambiguous ones among them, fill each balance gap.`,
    `- Tier 1, majorization. Charges with values of x or more cost at most start - x together.`,
    `- Tier 2, bounds. Every value bounds the balance at the start, and the bounds agree; no request sees more than a
request that ended before it.`,
    `What each outcome says:`,
    `- Only the looser tiers fit. The values are not exact: a header is read a little later than its charge, or credits
are held and returned. Errors that cancel between two observations cannot be detected then, and a single
contradiction among thousands of exact values is inconclusive.`,
    `- A balance gap remains. It is reported with its time and the requests in flight, at most the 64 likeliest.`,
    `- A price is open (reads, gap G-17). It is the same for all requests of its endpoint: a balance gap that only some of
them would fill is a failure. One that one or two reads alone explain is inconclusive, never a pass.`,
    `- Exact in each account, but by no meaning in all. It is inconclusive: the header of some accounts lags, or it means
something else for them.`,
    `- A package or grant is added meanwhile. It is taken out of the values, and both sides of it are decided.`,
    `- Others use the account. Their traffic looks like a double charge.`,
    `Abandoned attempts may fill balance gaps, but by one policy for each kind (aborted or timed out, streamed or plain):`,
    `- None is charged; all are; those that had received text; those that had progressed furthest; each after a delay; and
in addition those that the service had finished when it noticed that the client was gone.`,
    `- A balance gap that no combination of these explains is a failure. One that some combination explains, and the
likeliest does not, or that no policy determines, is inconclusive.`,
    `- Which gap is the wrong one: each kind gets the delay at which most of it is charged, after its call or its
abandonment. The gap that remains at the least distance is reported. If others are about as likely, the finding
says so and names their suspects, too.`,
    `- The policies exclude a cancel that is lost for longer than two of the shortest exchanges, and charges by chance.`,
    `If the values are not exact, the sums decide:`,
    `- An idle value is settled if every request abandoned before it must have ended, by the longest success. Between two
settled values the balance falls by the successes and by the same policies, including prices that are held and
returned later.`,
    `- It fails if no combination fits all stretches, and all but a few credits in fifty attempts are explained. The
position is the step in the values after held credits are added.`,
    `- A policy that does not determine which attempts it charges, such as a threshold among attempts with about equal
progress, fits almost any sums. It explains them only if such sums are likelier than one in a million for each
wrong charge that it would excuse. This needs many stretches, each with many abandoned attempts whose step (or one
that sends the same) shows how long a success takes.`,
  ],
  decideBy(readings, { contract }) {
    // A single value fits any history.
    const concurrent = readings.filter((each) => each.observations > 1 && isConcurrent(each))
    if (concurrent.length === 0) {
      return notObserved(
        'requests of one account in flight at the same time, and two values of its balance',
      )
    }
    const observations = concurrent.reduce((sum, reading) => sum + reading.observations, 0)
    const expires = (contract.packages ?? []).some((each) => each.validMonths !== null)
    const verdicts = concurrent.map((reading) => verdictOf(reading, { observations, expires }))
    return (
      firstOpen(verdicts) ??
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

interface Question {
  readonly observations: number
  /** Whether credits of the contract expire. */
  readonly expires: boolean
}

function verdictOf(reading: BalanceReading, question: Question): Verdict {
  switch (reading.fits) {
    case 'exact':
      return whenExact(reading, question)
    case 'late':
      return whenLate(reading, question)
    case 'loose':
      return whenLoose(reading, question)
    case 'none':
      return whenNothingFits(reading, question)
  }
}

/** Every value is explained. What is left over are abandoned attempts that their policy does not charge so. */
function whenExact(reading: BalanceReading, { observations }: Question): Verdict {
  const { history, ambiguous } = reading
  const [stray] = reading.stray
  if (stray === undefined) return byTotals(reading, observations) ?? pass(observations)
  const { observed, witnesses } = tell(reading, stray)
  if (reading.isProven() || reading.settled()?.isProven === true)
    return fail(observations, {
      expected: `account ${history.account}: credits charged for successes, and by one policy for ${ambiguous} abandoned attempts`,
      observed,
      witnesses,
      note: noPolicy,
    })
  return inconclusive(
    observations,
    `account ${history.account}: ${observed}. One policy explains the cost of the other ${ambiguous} ambiguous attempts. ${eitherWrong}`,
    witnesses,
  )
}

/** The values fit only if charges settle after their response. Then BILL-08 decides, and not this rule. */
function whenLate({ history, doubt, settleUs }: BalanceReading, { observations }: Question) {
  return inconclusive(
    observations,
    `account ${history.account}: ${doubt ?? `the values fit only if charges settle up to ${settleUs / 1e6} s after their response; the final balance is right`}`,
  )
}

/** The values contradict each other as exact values, but not as bounds. */
function whenLoose(reading: BalanceReading, { observations }: Question): Verdict {
  const { intervals, history } = reading
  const conflict = intervals.conflicts[0]
  const proven = byTotals(reading, observations)
  if (proven !== null) return proven
  if (conflict === undefined) return pass(observations)
  if (intervals.missingCredits > 0) {
    const balanceGap = intervals.conflicts.find(({ kind }) => kind === 'balance-gap') ?? conflict
    const { observed, witnesses } = tell(reading, balanceGap)
    const why = `account ${history.account}: ${observed}; ${reading.doubt}`
    return inconclusive(observations, why, witnesses)
  }
  if (!isAlone(reading)) return pass(observations)
  const { observed, witnesses } = tell(reading, conflict)
  return inconclusive(
    observations,
    `account ${history.account}: ${observed}, once among ${intervals.placed} values that are exact otherwise. A header read a moment late explains it, and so does a wrong charge that was given back.`,
    witnesses,
  )
}

/** No legal service shows these values, unless credits expired. */
function whenNothingFits(reading: BalanceReading, { observations, expires }: Question): Verdict {
  const { intervals, history } = reading
  const conflict =
    reading.stray[0] ?? intervals.conflicts.find(isPlacedBalanceGap) ?? intervals.conflicts[0]
  const missing = conflict?.kind === 'balance-gap' ? conflict.unexplained : null
  const stale = staleHeader(reading)
  const { observed, witnesses } = stale ?? tellShortest(reading, conflict)
  if (expires && missing !== null && mayHaveExpired(reading, missing))
    return inconclusive(
      observations,
      `account ${history.account}: ${observed}. Credits that expired would look the same.`,
      witnesses,
    )
  const remarks =
    stale !== null
      ? []
      : [
          ...(intervals.conflictCount > 1
            ? [`${intervals.conflictCount} such places; the first is shown.`]
            : []),
          // Traffic of others can take credits, but not return any.
          ...(missing === null ? [] : [othersLookSo]),
        ]
  return fail(observations, {
    expected: `account ${history.account}: a history in which every charge applies once, to the balance after the charge before it`,
    observed,
    witnesses,
    ...(remarks.length === 0 ? {} : { note: remarks.join(' ') }),
  })
}

/** Whether so many credits are far beyond what was charged, in all or between the two idle values around them, as BILL-10 sees it. */
function mayHaveExpired(
  { charges, conservation: { stretches } }: BalanceReading,
  missing: Credits,
): boolean {
  return (
    looksExpired(missing, charges) ||
    stretches.some(({ excess, sure, ambiguous }) => {
      const cost = sure + ambiguous
      return looksExpired(excess, cost) && Math.abs(excess - missing) <= cost
    })
  )
}

const noPolicy = `No legal policy for abandoned requests explains it (see --explain BILL-11). ${othersLookSo}`
const eitherWrong =
  'Either one of them was charged against that policy, or a request in flight was charged wrongly.'

/** A balance gap that ends before it begins is the counterpart of a rise. */
const isPlacedBalanceGap = (conflict: IntervalConflict): boolean =>
  conflict.kind === 'balance-gap' && conflict.balanceGap.fromUs <= conflict.balanceGap.toUs

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
  if (!settled.isProven)
    return inconclusive(
      observations,
      `account ${history.account}: ${observed}. Successes and one plain policy explain the cost of the other ${abandoned}. ${eitherWrong}`,
      witnesses,
    )
  return fail(observations, {
    expected: `account ${history.account}: between two settled values, credits charged for successes, and by one policy for ${abandoned}`,
    observed,
    witnesses,
    note: noPolicy,
  })
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
  if (loose.length > 0)
    return {
      note: 'The header is not an exact balance: it is read a moment after its charge, or shows credits that are held and given back. Decided by tiers 1 and 2.',
    }
  const added = readings.flatMap(({ gifts }) => gifts.map((gift) => gift.credits))
  if (added.length > 0)
    return { note: `${added.join(' and ')} credits came in meanwhile; both sides are decided.` }
  return uncertain > 0
    ? { note: `${credits(uncertain)} went to ambiguous attempts.` }
    : { note: 'Every value is exact: the header shows the balance at each charge.' }
}
