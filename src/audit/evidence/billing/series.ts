import type { Credits } from '../../../contract/contract.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import type { BalanceReading, PageContradiction } from './balance-reading.ts'
import { looksExpired } from './expiry.ts'
import { type BalanceHistory, effects, withColumns } from './history.ts'
import { rowsWhere } from './operations.ts'
import { readBalance } from './read-balance.ts'
import { RunningSum } from './running-sum.ts'

/**
 * Reads headers and bodies of the credits endpoint ("the page") as one series, which decides most. If that leaves something,
 * while the headers alone explain everything and contradict the page, the page is late or another account's.
 */
export function readSeries(
  history: BalanceHistory,
  giftSizes: readonly Credits[],
  policy: KnownPolicy | null,
): BalanceReading {
  const together = readBalance(history, giftSizes, policy)
  const pages = history.pages ?? []
  if (pages.length === 0 || balances(together)) return together
  const value = history.value.slice()
  for (const row of pages) value[row] = Number.NaN
  const headers = readBalance(withColumns(history, { value }, { pages: [] }), giftSizes, policy)
  if (headers.conservation.stretches.length === 0 || !balances(headers)) return together
  const against = contradictions(headers, history, giftSizes)
  return against.length === 0 ? together : { ...headers, pageContradictions: against }
}

/** Whether every value fits, and between idle values nothing is left over. */
const balances = ({ fits, conservation: { stretches } }: BalanceReading): boolean =>
  (fits === 'exact' || fits === 'loose') && stretches.every((each) => each.excess === 0)

/**
 * Pages that show another balance than the last idle header before them, less the cost of what was called and has ended since.
 * A page beside a request in flight decides nothing, nor does one after a call that was abandoned since. One that was
 * abandoned before may be charged, or given back, until it settles. After the last header, the difference may be a package.
 */
function contradictions(
  { history, conservation }: BalanceReading,
  { value, pages = [] }: BalanceHistory,
  giftSizes: readonly Credits[],
): readonly PageContradiction[] {
  const { effect, callUs, endUs, settlesByUs, costCredits, size } = history
  const abandoned = rowsWhere(size, (row) => effect[row] === effects.ambiguous)
  const cost = (row: number) => costCredits[row]!
  const called = new RunningSum(abandoned, (row) => callUs[row]!, cost)
  const settled = new RunningSum(abandoned, (row) => settlesByUs[row]!, cost)
  return pages.flatMap((row) => {
    const before = conservation.idle.findLastIndex((idle) => endUs[idle]! < callUs[row]!)
    if (before < 0) return []
    const header = conservation.idle[before]!
    const known = conservation.balance[before]!
    let expected = known
    for (let other = header + 1; other < size; other++) {
      if (other === row || effect[other] === effects.read) continue
      if (callUs[other]! > endUs[row]!) break
      if (effect[other] === effects.ambiguous || endUs[other]! >= callUs[row]!) return []
      if (effect[other] === effects.charge) expected -= costCredits[other]!
    }
    const shown = value[row]!
    const unsettled = called.upTo(endUs[header]!) - settled.before(callUs[header]!)
    const nearest = Math.min(Math.max(shown, expected - unsettled), expected + unsettled)
    if (shown === nearest) return []
    const gained = shown - expected
    /** Whether a package was bought or expired since, which needs no request. */
    const isMoved =
      giftSizes.includes(gained) ||
      (giftSizes.length > 0 && looksExpired(-gained, known - expected))
    const isLast = before === conservation.idle.length - 1
    // No later header shows what the requests since the last one took: their price may be another.
    const isUnconfirmed = isLast && (isMoved || expected !== known)
    return isUnconfirmed ? [] : [{ row, shown, expected, unsettled }]
  })
}
