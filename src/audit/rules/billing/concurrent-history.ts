import { effects } from '../../billing/history.ts'
import type { LedgerReading } from '../../billing/ledger.ts'
import { certainPlace, type Place } from '../../billing/location.ts'
import { placesOfStep } from '../../billing/step.ts'
import { type Suspects, suspectsOf } from '../../billing/suspects.ts'
import type { Hole, TileFault } from '../../billing/tiles.ts'
import {
  billingRule,
  credits,
  othersLookSo,
  passWithoutDoubt,
  witnessOf,
} from '../../evidence/balances.ts'
import type { Verdict, Witness } from '../../verdict.ts'

export const bill11 = billingRule({
  id: 'BILL-11',
  says: 'The balances that concurrent requests were shown belong to one possible history',
  section: '§8.4',
  severity: 'must',
  needs: ['passive', 'quiescence'],
  isOfConcurrency: true,
  explain: `Three tiers over the values of each account, on the client's monotonic clock. Which of them
are sound depends on what the header means, so each legal meaning is tried (after or before the own
charge, for plain answers and for streams; at the charge itself or read a moment later), and the rule
fails only when none of them explains the values.
Tier 3, exact: each charge covers a tile of the balance; tiles must not overlap, must follow real time,
and each hole must be filled by charges that nobody saw, ambiguous ones among them. Tier 1,
majorization: charges with values of x or more cost at most start - x together. Tier 2, bounds: every
value bounds the balance at the start, and all bounds must leave one; nobody sees more than somebody saw
who had ended before.
When only the looser tiers fit, the values are no ledger: a header read a little later than its charge,
or credits that are held and given back. Then errors that cancel between two observations cannot be
seen; a lone contradiction among thousands of exact values is told as inconclusive. A hole is told with
its time and with whom was in flight then, the 64 likeliest at most.
Among attempts that were left, any hole of a chain may be the wrong one: each kind is given the delay at
which most of it is charged, after its call or its leaving, and the hole told is the one that is left
over at the least distance. Where others are about as likely it says so, and their suspects are named,
too.
A price that the specification leaves open (reads, gap G-17) is one for all requests of its endpoint: a hole
that only some of them would fill is a failure. Where one or two reads alone explain a hole, or attempts that
were left by no policy that explains which, it is inconclusive, never a pass.
Attempts that their client left may fill holes, but by one policy for each kind of leaving (aborted or
timed out, streamed or plain): none is charged; all are; those that had seen text; those that had come
furthest; each at a delay; and on top of each those that the service had finished when it learned that
the client was gone. A hole that no combination of these explains is a failure; one that some of them
does, and the likeliest does not, is inconclusive. Not among them: a cancel that is lost for longer than
two of the shortest exchanges, and charges by chance.
Where the values are no ledger, sums are: an idle value is settled when all that was left before it must
be over, by the longest success. Between two settled values the balance falls by the successes and by
the same policies; also prices that are held and given back later. When no combination of these fits all
stretches, and all but a few credits in fifty attempts are explained, it fails; the place is the step
that the values between show once held credits are added. A policy that leaves open whom it charges, as
one that draws a line amid attempts that came about equally far, fits almost any sums: it explains them
only where such sums are likelier than one in a million for each wrong charge that it would spare. It
takes many stretches, each with many attempts that were left, whose step (or one that sends the same)
shows how long a success takes. A package or grant that comes in meanwhile is taken out of the values,
and both of its sides are decided. Traffic of others on the account looks like a double charge.`,
  decide(ledgers, { contract }) {
    const concurrent = ledgers.filter(isConcurrent)
    if (concurrent.length === 0) {
      return {
        verdict: 'not-observed',
        takes: 'requests of one account in flight at the same time',
      }
    }
    const observations = concurrent.reduce((sum, ledger) => sum + ledger.observations, 0)
    const verdicts = concurrent.map((ledger) =>
      verdictOf(
        ledger,
        observations,
        contract.packages.some((each) => each.validMonths !== null),
      ),
    )
    return (
      verdicts.find((verdict) => verdict.verdict === 'fail') ??
      verdicts.find((verdict) => verdict.verdict === 'inconclusive') ??
      passWithoutDoubt(concurrent, observations, noteOf(concurrent))
    )
  },
})

/** Whether two requests that cost something were ever in flight together. */
function isConcurrent({ history }: LedgerReading): boolean {
  let busyUntil = -Infinity
  for (let row = 0; row < history.size; row++) {
    if (history.effect[row] !== effects.charge && history.effect[row] !== effects.ambiguous)
      continue
    if (history.callUs[row]! < busyUntil) return true
    busyUntil = Math.max(busyUntil, history.endUs[row]!)
  }
  return false
}

function verdictOf(ledger: LedgerReading, observations: number, expires: boolean): Verdict {
  const { fits, tiles, history } = ledger
  switch (fits) {
    case 'exact': {
      const [stray] = ledger.stray
      if (stray === undefined)
        return bySums(ledger, observations) ?? { verdict: 'pass', observations }
      const { came, witnesses } = tell(ledger, stray)
      if (ledger.isProven() || ledger.settled()?.isProven === true) {
        return {
          verdict: 'fail',
          observations,
          expected: `account ${history.account}: credits taken for successes, and for ${ledger.ambiguous} attempts that were left by one policy`,
          came,
          witnesses,
          note: `No policy of charging what clients left explains it (see --explain BILL-11). ${othersLookSo}`,
        }
      }
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: ${came}. One policy explains what all other ${ledger.ambiguous} ambiguous attempts cost; either one of them was charged against it, or a request in flight was charged wrongly.`,
        witnesses,
      }
    }
    case 'late':
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: the values fit only when charges may settle up to ${ledger.settleUs / 1e6} s after their response; the balance is right in the end`,
      }
    case 'loose': {
      const fault = tiles.faults[0]
      const proven = bySums(ledger, observations)
      if (proven !== null) return proven
      if (fault === undefined) return { verdict: 'pass', observations }
      if (tiles.missingCredits > 0) {
        const hole = tiles.faults.find(({ kind }) => kind === 'hole') ?? fault
        const { came, witnesses } = tell(ledger, hole)
        const why = `account ${history.account}: ${came}; ${ledger.doubt}`
        return { verdict: 'inconclusive', observations, why, witnesses }
      }
      if (!isRare(ledger)) return { verdict: 'pass', observations }
      const { came, witnesses } = tell(ledger, fault)
      return {
        verdict: 'inconclusive',
        observations,
        why: `account ${history.account}: ${came}, once among ${tiles.placed} values that are exact otherwise. A header read a moment late explains it, and so does a wrong charge that was given back.`,
        witnesses,
      }
    }
    case 'none': {
      const fault =
        ledger.stray[0] ?? tiles.faults.find((each) => each.kind === 'hole') ?? tiles.faults[0]
      const stale = staleHeader(ledger)
      const told = stale ?? telling(ledger, fault)
      const places =
        ledger.tiles.faultCount > 1 && stale === null
          ? `${ledger.tiles.faultCount} such places; the first is shown.`
          : ''
      // Others can take credits, and give none.
      const others = stale === null && fault?.kind === 'hole' ? othersLookSo : ''
      const note = `${places} ${others}`.trim()
      const huge = fault?.kind === 'hole' && fault.unexplained >= 50 * Math.max(1, ledger.charges)
      if (huge && expires) {
        return {
          verdict: 'inconclusive',
          observations,
          why: `account ${history.account}: ${told.came}. Credits that expired would look the same.`,
          witnesses: told.witnesses,
        }
      }
      return {
        verdict: 'fail',
        observations,
        expected: `account ${history.account}: a history in which every charge is taken once, from the balance that the one before it left`,
        came: told.came,
        witnesses: told.witnesses,
        ...(note === '' ? {} : { note }),
      }
    }
  }
}

/** What the sums between settled values prove, where the values themselves are no ledger. */
function bySums(ledger: LedgerReading, observations: number): Verdict | null {
  const settled = ledger.settled()
  if (settled === null) return null
  const { history, meaning } = ledger
  const [likeliest, ...others] = placesOfStep(history, meaning, settled)
  if (likeliest === undefined) return null
  const suspects = suspectsOf(history, [likeliest, ...others], settled.credits, settled.charged)
  const [first = settled.to, ...rest] = suspects.rows
  const came = `${credits(settled.credits)} more between slots ${history.slot[settled.from]} and ${history.slot[settled.to]}, likeliest ${bracketOf(likeliest, suspects)}`
  const witnesses = [
    witnessOf(ledger, first, roleOf(first, likeliest.hole)),
    ...rest.map((row) => witnessOf(ledger, row, roleOf(row, likeliest.hole))),
  ] as const
  const left = `${ledger.ambiguous} attempts that were left`
  if (!settled.isProven) {
    return {
      verdict: 'inconclusive',
      observations,
      why: `account ${history.account}: ${came}. Successes and one plain policy explain what all other ${left} cost; either one of them was charged against it, or a request in flight was charged wrongly.`,
      witnesses,
    }
  }
  return {
    verdict: 'fail',
    observations,
    expected: `account ${history.account}: between two settled values, credits taken for successes, and for ${left} by one policy`,
    came,
    witnesses,
    note: `No policy of charging what clients left explains it (see --explain BILL-11). ${othersLookSo}`,
  }
}

/** Few contradictions among many exact values, and nobody about who may have held credits. */
function isRare({ tiles, history, ambiguous }: LedgerReading): boolean {
  if (tiles.faultCount > Math.max(2, tiles.placed / 200)) return false
  const failures = history.effect.some(
    (effect, row) => effect === effects.failure && history.costCredits[row]! > 0,
  )
  return ambiguous === 0 && !failures
}

/**
 * A hole right below a value that shows the same credits as the one above it is no missing money: that header shows
 * the balance before the charge above, and the sums are right.
 */
function staleHeader({ history, tiles }: LedgerReading): Told | null {
  if (tiles.missingCredits > 0) return null
  for (const fault of tiles.faults) {
    if (fault.kind !== 'hole') continue
    const { above } = fault.hole
    const twice = tiles.faults.find(
      (each) =>
        each.kind === 'overlap' && each.lower === above && each.credits === fault.unexplained,
    )
    if (twice?.kind !== 'overlap') continue
    const shown = history.value[above]!
    return {
      came: `a header that is one request behind: ${shown}, where ${shown - fault.unexplained} was left; no credit is missing after it`,
      witnesses: [
        witnessOf({ history }, above, `shows ${shown}`),
        witnessOf({ history }, twice.upper, `showed ${history.value[twice.upper]} before`),
      ],
    }
  }
  return null
}

type Told = { readonly came: string; readonly witnesses: readonly [Witness, ...Witness[]] }

/** What shows it with the fewest rows: a hole with its place, a rise as a pair, else the sums. */
function telling(ledger: LedgerReading, fault: TileFault | undefined): Told {
  const [majorization, bounds] = [ledger.majorization(), ledger.bounds()]
  if (fault?.kind === 'hole') return tell(ledger, fault)
  if (bounds.rise !== null) {
    const { earlier, later, credits: rise } = bounds.rise
    return {
      came: `a balance that is ${credits(rise)} above what had surely been reached before`,
      witnesses: [
        witnessOf(ledger, later, `shows ${ledger.history.value[later]}`),
        witnessOf(
          ledger,
          earlier,
          `had shown ${ledger.history.value[earlier]} before it was called`,
        ),
      ],
    }
  }
  if (majorization.fault !== null) {
    const { row, beside, charges, costCredits, allowedCredits } = majorization.fault
    return {
      came: `${charges} charges that cost ${costCredits} together lowered the balance by ${allowedCredits}: ${credits(costCredits - allowedCredits)} lost`,
      witnesses: [
        witnessOf(ledger, row, `shows ${ledger.history.value[row]}`),
        ...(beside === row
          ? []
          : [witnessOf(ledger, beside, `shows ${ledger.history.value[beside]}`)]),
      ],
    }
  }
  if (fault !== undefined) return tell(ledger, fault)
  const { least, most } = bounds
  return {
    came: `values that no balance at the start fits: at least ${least.credits} by one, at most ${most.credits} by another`,
    witnesses: [
      witnessOf(ledger, most.row, `shows ${ledger.history.value[most.row]}`),
      witnessOf(ledger, least.row, `shows ${ledger.history.value[least.row]}`),
    ],
  }
}

function tell(ledger: LedgerReading, fault: TileFault): Told {
  const { value } = ledger.history
  switch (fault.kind) {
    case 'hole': {
      const [likeliest = certainPlace(fault.hole), ...others] = ledger.places()
      const { hole } = likeliest
      const unexplained = Math.min(fault.unexplained, hole.credits)
      const suspects = suspectsOf(ledger.history, [likeliest, ...others], unexplained)
      const [first = hole.below, ...rest] = suspects.rows
      return {
        came: `${credits(unexplained)} taken between ${value[hole.above]} and ${value[hole.below]} that no request accounts for, ${bracketOf(likeliest, suspects)}`,
        witnesses: [
          witnessOf(ledger, first, roleOf(first, hole)),
          ...rest.map((row) => witnessOf(ledger, row, roleOf(row, hole))),
        ],
      }
    }
    case 'overlap':
      return {
        came: `two charges that took the same credit: balances ${value[fault.upper]} and ${value[fault.lower]}`,
        witnesses: [
          witnessOf(ledger, fault.lower, `shows ${value[fault.lower]}`),
          witnessOf(ledger, fault.upper, `shows ${value[fault.upper]}`),
        ],
      }
    case 'order':
      return {
        came: `a balance that rose against the clock, from ${value[fault.later]} to ${value[fault.earlier]}`,
        witnesses: [
          witnessOf(ledger, fault.earlier, `shows ${value[fault.earlier]}, called later`),
          witnessOf(ledger, fault.later, `shows ${value[fault.later]}, ended before`),
        ],
      }
    case 'missing':
      return {
        came: 'a success that took nothing from the balance',
        witnesses: [witnessOf(ledger, fault.row, 'no room for its charge')],
      }
  }
}

function roleOf(row: number, { below }: Hole): string {
  return row === below ? 'the first to show the credits gone' : 'in flight then'
}

function bracketOf({ hole }: Place, { inFlight, otherPlaces }: Suspects): string {
  const seconds = (us: number) => (us / 1e6).toFixed(6)
  const others =
    otherPlaces === 0
      ? ''
      : otherPlaces === 1
        ? ', or at another place as likely'
        : `, or at one of ${otherPlaces} other places as likely`
  return `between ${seconds(hole.fromUs)} s and ${seconds(hole.toUs)} s of the run with ${inFlight} in flight${others}`
}

function noteOf(ledgers: readonly LedgerReading[]): { readonly note?: string } {
  const loose = ledgers.filter((ledger) => ledger.fits === 'loose')
  const uncertain = ledgers.reduce((sum, ledger) => sum + ledger.tiles.uncertainCredits, 0)
  if (loose.length > 0) {
    return {
      note: 'The header is no ledger: it is read a moment after its charge, or shows credits that are held and given back. Decided by tiers 1 and 2.',
    }
  }
  const came = ledgers.flatMap(({ gifts }) => gifts.map((gift) => gift.credits))
  if (came.length > 0) {
    return { note: `${came.join(' and ')} credits came in meanwhile; both sides are decided.` }
  }
  return uncertain > 0
    ? { note: `${credits(uncertain)} went to ambiguous attempts.` }
    : { note: 'Every value is exact: the header can be read as a ledger.' }
}
