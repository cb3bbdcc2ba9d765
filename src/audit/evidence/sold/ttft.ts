import type { Exchange } from '../exchange.ts'

/** Microseconds from sending to the first text; of a plain answer of one token, to its end. Null if neither is known. */
export function ttftUsOf({ row }: Exchange): number | null {
  const { sentUs, firstContentUs, closedUs, completionTokens } = row
  const at = firstContentUs ?? ((completionTokens ?? 2) <= 1 ? closedUs : null)
  return at === null || at <= sentUs ? null : at - sentUs
}
