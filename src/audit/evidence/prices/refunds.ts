import { decimalText, isEqual, negate } from '../../../money/rational.ts'
import type { StatedCost } from '../../../price/judge/request.ts'

/** Rows of a log that give back what others charged. A refund may repeat the counts of its charge. */

/** The charges of one request that stay, and its refunds that give no charge back whole. */
interface Settled<Row> {
  readonly charges: readonly Row[]
  readonly refunds: readonly Row[]
}

/** Takes out each refund together with a charge of the same amount. */
export function settled<Row>(
  rows: readonly Row[],
  costOf: (row: Row) => StatedCost | null,
): Settled<Row> {
  const isRefund = (row: Row) => (costOf(row)?.value.numerator ?? 0n) < 0n
  const charges = rows.filter((row) => !isRefund(row))
  const refunds: Row[] = []
  for (const refund of rows.filter(isRefund)) {
    const at = charges.findIndex((row) => givesBack(costOf(refund), costOf(row)))
    if (at === -1) refunds.push(refund)
    else charges.splice(at, 1)
  }
  return { charges, refunds }
}

/** Whether a cost is what another one was, given back. */
export const givesBack = (refund: StatedCost | null, charge: StatedCost | null): boolean =>
  refund !== null &&
  charge !== null &&
  charge.value.numerator > 0n &&
  isEqual(negate(refund.value), charge.value)

/** An amount without its sign, as a key; empty without one. */
export const amountOf = (cost: StatedCost | null): string =>
  cost === null ? '' : decimalText(cost.value).replace('-', '')
