/** What a row of a log is. A ledger has entries beside requests. */
export const entryTypes = [
  'usage',
  'refund',
  'adjustment',
  'grant',
  'purchase',
  'gift',
  'expiry',
] as const
