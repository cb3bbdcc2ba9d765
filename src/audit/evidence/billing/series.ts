import type { Credits } from '../../../contract/contract.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import type { BalanceReading, PageContradiction } from './balance-reading.ts'
import { looksExpired } from './expiry.ts'
import { type BalanceHistory, effects, withColumns } from './history.ts'
import { readBalance } from './read-balance.ts'

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

/** Pages read alone after an idle header and ended successes, with another balance. After the last header, it may be a package. */
function contradictions(
  { history: { effect, callUs, endUs, costCredits, size }, conservation }: BalanceReading,
  { value, pages = [] }: BalanceHistory,
  giftSizes: readonly Credits[],
): readonly PageContradiction[] {
  return pages.flatMap((row) => {
    const before = conservation.idle.findLastIndex((idle) => endUs[idle]! < callUs[row]!)
    if (before < 0) return []
    const known = conservation.balance[before]!
    let expected = known
    for (let other = conservation.idle[before]! + 1; other < size; other++) {
      if (other === row || effect[other] === effects.read) continue
      if (callUs[other]! > endUs[row]!) break
      if (effect[other] === effects.ambiguous || endUs[other]! >= callUs[row]!) return []
      if (effect[other] === effects.charge) expected -= costCredits[other]!
    }
    const gained = value[row]! - expected
    const isMoved =
      giftSizes.includes(gained) ||
      (giftSizes.length > 0 && looksExpired(-gained, known - expected))
    const isLast = before === conservation.idle.length - 1
    // No later header shows what the requests since the last one took: their price may be another.
    const isUnconfirmed = isLast && (isMoved || expected !== known)
    return gained === 0 || isUnconfirmed ? [] : [{ row, shown: value[row]!, expected }]
  })
}
