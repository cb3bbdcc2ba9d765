import { credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { BalanceGap, IntervalConflict } from '../../evidence/billing/charge-intervals.ts'
import { certainPlace, type Place } from '../../evidence/billing/place.ts'
import { type Suspects, suspectsOf } from '../../evidence/billing/suspects.ts'
import type { Witness } from '../../verdict.ts'

/** What is wrong in a history, with its rows. */
export type Told = {
  readonly observed: string
  readonly witnesses: readonly [Witness, ...Witness[]]
}

/** No loss: a gap right below a value with the same credits as above: that header shows the balance before the charge above. */
export function staleHeader({ history, intervals }: BalanceReading): Told | null {
  if (intervals.missingCredits > 0) return null
  for (const conflict of intervals.conflicts) {
    if (conflict.kind !== 'balance-gap') continue
    const { above } = conflict.balanceGap
    const twice = intervals.conflicts.find(
      (each) =>
        each.kind === 'overlap' && each.lower === above && each.credits === conflict.unexplained,
    )
    if (twice?.kind !== 'overlap') continue
    const shown = history.value[above]!
    return {
      observed: `a header that is one request behind: ${shown} where the balance was ${shown - conflict.unexplained}; no credit is missing after it`,
      witnesses: [
        witnessOf({ history }, above, `shows ${shown}`),
        witnessOf({ history }, twice.upper, `showed ${history.value[twice.upper]} before`),
      ],
    }
  }
  return null
}

/** The evidence with the fewest rows: a balance gap with its place, a rise as a pair, or the sums. */
export function tellShortest(
  reading: BalanceReading,
  conflict: IntervalConflict | undefined,
): Told {
  const [majorization, bounds] = [reading.majorization(), reading.bounds()]
  if (conflict?.kind === 'balance-gap') return tell(reading, conflict)
  if (bounds.rise !== null) {
    const { earlier, later, credits: rise } = bounds.rise
    return {
      observed: `a balance ${credits(rise)} above one that had been reached before`,
      witnesses: [
        witnessOf(reading, later, `shows ${reading.history.value[later]}`),
        witnessOf(
          reading,
          earlier,
          `had shown ${reading.history.value[earlier]} before it was called`,
        ),
      ],
    }
  }
  if (majorization.conflict !== null) {
    const { row, beside, charges, costCredits, allowedCredits } = majorization.conflict
    return {
      observed: `${charges} charges that cost ${costCredits} together lowered the balance by ${allowedCredits}: ${credits(costCredits - allowedCredits)} lost`,
      witnesses: [
        witnessOf(reading, row, `shows ${reading.history.value[row]}`),
        ...(beside === row
          ? []
          : [witnessOf(reading, beside, `shows ${reading.history.value[beside]}`)]),
      ],
    }
  }
  if (conflict !== undefined) return tell(reading, conflict)
  const { least, most } = bounds
  return {
    observed: `no starting balance fits the values: at least ${least.credits} by one, at most ${most.credits} by another`,
    witnesses: [
      witnessOf(reading, most.row, `shows ${reading.history.value[most.row]}`),
      witnessOf(reading, least.row, `shows ${reading.history.value[least.row]}`),
    ],
  }
}

export function tell(reading: BalanceReading, conflict: IntervalConflict): Told {
  const { value } = reading.history
  switch (conflict.kind) {
    case 'balance-gap': {
      const [likeliest = certainPlace(conflict.balanceGap), ...others] = reading.places()
      const { balanceGap } = likeliest
      const unexplained = Math.min(conflict.unexplained, balanceGap.credits)
      const suspects = suspectsOf(reading.history, [likeliest, ...others], unexplained)
      const [first = balanceGap.below, ...rest] = suspects.rows
      return {
        observed: `${credits(unexplained)} missing between ${value[balanceGap.above]} and ${value[balanceGap.below]} without a request that explains it, ${bracketOf(likeliest, suspects)}`,
        witnesses: [
          witnessOf(reading, first, roleOf(first, balanceGap)),
          ...rest.map((row) => witnessOf(reading, row, roleOf(row, balanceGap))),
        ],
      }
    }
    case 'overlap':
      return {
        observed: `two charges of the same credit: balances ${value[conflict.upper]} and ${value[conflict.lower]}`,
        witnesses: [
          witnessOf(reading, conflict.lower, `shows ${value[conflict.lower]}`),
          witnessOf(reading, conflict.upper, `shows ${value[conflict.upper]}`),
        ],
      }
    case 'order':
      return {
        observed: `a balance that rose against the clock, from ${value[conflict.later]} to ${value[conflict.earlier]}`,
        witnesses: [
          witnessOf(reading, conflict.earlier, `shows ${value[conflict.earlier]}, called later`),
          witnessOf(reading, conflict.later, `shows ${value[conflict.later]}, ended before`),
        ],
      }
    case 'missing':
      return {
        observed: 'a success without a charge',
        witnesses: [witnessOf(reading, conflict.row, 'no room for its charge')],
      }
  }
}

export const roleOf = (row: number, { below }: BalanceGap): string =>
  row === below ? 'the first to show the credits gone' : 'in flight then'

/** The times between which a credit went missing. */
export function bracketOf({ balanceGap }: Place, { inFlight, otherPlaces }: Suspects): string {
  const seconds = (us: number) => (us / 1e6).toFixed(6)
  const others =
    otherPlaces === 0
      ? ''
      : otherPlaces === 1
        ? ', or at another place as likely'
        : `, or at one of ${otherPlaces} other places as likely`
  return `between ${seconds(balanceGap.fromUs)} s and ${seconds(balanceGap.toUs)} s of the run with ${inFlight} in flight${others}`
}
