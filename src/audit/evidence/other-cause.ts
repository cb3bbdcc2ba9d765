import type { Contract, Credits } from '../../contract/contract.ts'
import { credits } from './balances.ts'
import type { Stretch } from './billing/conservation.ts'
import { looksExpired } from './billing/expiry.ts'
import { giftsOf, sumsOf } from './billing/gifts.ts'

/** Another explanation of the excess than a wrong charge, as far as the contract has one. */
export function otherCause(contract: Contract, stretch: Stretch, excess: Credits): string | null {
  if (excess < 0) {
    const gained = -excess
    const reach = stretch.ambiguous
    return sumsOf(giftsOf(contract)).some((gift) => gained <= gift && gained >= gift - reach)
      ? `A package or grant of ${credits(gained)} would look the same.`
      : null
  }
  const expires = (contract.packages ?? []).some((each) => each.validMonths !== null)
  return expires && looksExpired(excess, stretch.sure + stretch.ambiguous)
    ? 'Credits that expired would look the same.'
    : null
}

/** Whether credits may have been bought, granted or expired in the stretch. */
export function mayBeMoved(contract: Contract, stretch: Stretch): boolean {
  const excess = stretch.excess
  return excess !== 0 && otherCause(contract, stretch, excess) !== null
}
