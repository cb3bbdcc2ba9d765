import type { Credits } from '../../../contract/contract.ts'
import type { KnownPolicy } from './abandoned/known-policy.ts'
import type { BalanceReading } from './balance-reading.ts'
import type { Assumptions, OpenPrices, PricedHistories } from './open-prices.ts'
import { enoughReads } from './read-prices.ts'
import { readSeries } from './series.ts'

/** The readings under the prices that explain them best. */
export interface PricedReadings {
  readonly prices: OpenPrices
  readonly readings: readonly BalanceReading[]
}

/**
 * The readings under the cheapest prices that leave nothing, or else the least, unexplained. In doubt if only a few reads
 * support a price: a wrong charge would explain them as well.
 */
export function chosenPrices(
  [cheapest, ...dearer]: Assumptions,
  giftSizes: readonly Credits[],
  policy: KnownPolicy | null = null,
): PricedReadings {
  const read = (assume: () => PricedHistories) => {
    const priced = assume()
    const readings = priced.histories.map((history) => readSeries(history, giftSizes, policy))
    return { priced, readings, misfit: misfitOf(readings) }
  }
  let best = read(cheapest)
  for (const assume of dearer) {
    if (best.misfit === 0) break
    const other = read(assume)
    if (other.misfit < best.misfit) best = other
  }
  const { priced, readings, misfit } = best
  const isDoubtful = misfit === 0 && priced.pricedReads > 0 && priced.pricedReads < enoughReads
  const reads = priced.pricedReads === 1 ? 'one read' : `${priced.pricedReads} reads`
  return {
    prices: priced.prices,
    readings: isDoubtful
      ? readings.map((reading) => ({
          ...reading,
          doubt: `the values fit only if ${reads} cost a credit each; a wrong charge would look the same`,
        }))
      : readings,
  }
}

/** A measure of what the readings leave unexplained; 0 for nothing. */
function misfitOf(readings: readonly BalanceReading[]): number {
  return readings.reduce((sum, { fits, doubt, intervals, conservation: { stretches } }) => {
    // Late charges are explained in the end, but some price may explain them without the delay.
    if (fits === 'late') return sum + 1
    const astray = stretches.reduce((total, stretch) => total + Math.abs(stretch.excess), 0)
    const conflicts = fits === 'none' ? intervals.conflictCount : doubt === null ? 0 : 1
    return sum + astray + conflicts
  }, 0)
}
