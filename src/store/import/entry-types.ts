/** What a row of a log is. A ledger and a bill have entries beside requests. */
export const entryTypes = [
  'usage',
  'refund',
  'adjustment',
  'grant',
  'purchase',
  'gift',
  'expiry',
  'credit',
  'tax',
  'discount',
  'correction',
  'fee',
] as const

/** What a bill has beside its use and refunds. The other entries change what an account holds. */
export const billEntries = [
  'adjustment',
  'credit',
  'tax',
  'discount',
  'correction',
  'fee',
] as const satisfies readonly (typeof entryTypes)[number][]
export type BillEntry = (typeof billEntries)[number]
