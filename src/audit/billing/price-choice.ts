import type { Credits } from '../../contract/contract.ts'
import { excessOf } from './conservation.ts'
import { type LedgerReading, readLedger } from './ledger.ts'
import type { Assumptions, OpenPrices, PricedHistories } from './open-prices.ts'
import { enoughReads } from './read-prices.ts'

/** The ledgers by the prices that explain them best. */
export interface PricedLedgers {
  readonly prices: OpenPrices
  readonly ledgers: readonly LedgerReading[]
}

/**
 * The ledgers by the cheapest prices that leave nothing unexplained; where all leave something, a constant
 * price is refuted, and the ledgers are those that leave the least.
 *
 * A price that few reads alone ask for explains what a wrong charge beside them would explain as well: the
 * ledgers fit, in doubt.
 */
export function chosenPrices(
  [cheapest, ...dearer]: Assumptions,
  giftSizes: readonly Credits[],
): PricedLedgers {
  const read = (assume: () => PricedHistories) => {
    const priced = assume()
    const ledgers = priced.histories.map((history) => readLedger(history, giftSizes))
    return { priced, ledgers, misfit: misfitOf(ledgers) }
  }
  let best = read(cheapest)
  for (const assume of dearer) {
    if (best.misfit === 0) break
    const other = read(assume)
    if (other.misfit < best.misfit) best = other
  }
  const { priced, ledgers, misfit } = best
  const isDoubtful = misfit === 0 && priced.pricedReads > 0 && priced.pricedReads < enoughReads
  const reads = priced.pricedReads === 1 ? 'one read' : `${priced.pricedReads} reads`
  return {
    prices: priced.prices,
    ledgers: isDoubtful
      ? ledgers.map((ledger) => ({
          ...ledger,
          doubt: `the values fit only if ${reads} cost a credit each, which a wrong charge beside them would look like`,
        }))
      : ledgers,
  }
}

/** How much the ledgers leave unexplained: 0 for nothing. */
function misfitOf(ledgers: readonly LedgerReading[]): number {
  return ledgers.reduce((sum, { fits, doubt, tiles, conservation: { segments } }) => {
    // Charges that settle late leave nothing unexplained in the end; some price may explain them in time.
    if (fits === 'late') return sum + 1
    const astray = segments.reduce((total, segment) => total + Math.abs(excessOf(segment)), 0)
    const faults = fits === 'none' ? Math.max(1, tiles.faultCount) : doubt === null ? 0 : 1
    return sum + astray + faults
  }, 0)
}
