import { words } from '../../user/words.ts'

/** What a row of a log is. A ledger and a bill have entries beside requests. */
export const entryTypes = [
  ...words('usage refund adjustment grant purchase gift expiry credit tax discount correction'),
  ...words('fee'),
] as const

/** What gives credits: each such row is a grant that an account holds. */
export const givingEntries = ['grant', 'purchase', 'gift'] as const
/** What changes the credits that an account holds, beside its use and refunds. */
export const heldEntries = [...givingEntries, 'expiry'] as const

/** What a bill has beside its use and refunds. The other entries change what an account holds. */
export const billEntries = words(
  'adjustment credit tax discount correction fee',
) satisfies readonly (typeof entryTypes)[number][]
export type BillEntry = (typeof billEntries)[number]
