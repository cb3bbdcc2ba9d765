import type { Contract, Credits } from '../../contract/contract.ts'
import { credits } from './balances.ts'
import { excessOf, type Segment } from './billing/conservation.ts'
import { looksExpired } from './billing/expiry.ts'
import { giftsOf, sumsOf } from './billing/gifts.ts'

/** Another explanation of the excess than a wrong charge, as far as the contract has one. */
export function otherCause(contract: Contract, segment: Segment, excess: Credits): string | null {
  if (excess < 0) {
    const gained = -excess
    const reach = segment.ambiguous
    return sumsOf(giftsOf(contract)).some((gift) => gained <= gift && gained >= gift - reach)
      ? `A package or grant of ${credits(gained)} would look the same.`
      : null
  }
  const expires = (contract.packages ?? []).some((each) => each.validMonths !== null)
  return expires && looksExpired(excess, segment.sure + segment.ambiguous)
    ? 'Credits that expired would look the same.'
    : null
}

/** Whether credits may have been bought, granted or expired in the stretch. */
export function mayBeMoved(contract: Contract, segment: Segment): boolean {
  const excess = excessOf(segment)
  return excess !== 0 && otherCause(contract, segment, excess) !== null
}
