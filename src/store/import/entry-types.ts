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
