import { generatesSql } from '../contract/request.ts'

/** SQL: credits of an attempt by a price list; 0 unless a generation succeeded, null for a model without a price. */
export function creditsSql(
  prices: readonly { readonly id: string; readonly costCredits: number }[],
): string {
  const cases = prices
    .map(({ id, costCredits }) => `WHEN '${id.replaceAll("'", "''")}' THEN ${costCredits}`)
    .join(' ')
  const priced = cases === '' ? 'NULL' : `CASE coalesce(model, response_model) ${cases} END`
  return `CASE WHEN outcome = 'ok' AND ${generatesSql} THEN ${priced} ELSE 0 END`
}

/**
 * SQL: the order of balances of an account. Answers that one poll of the event loop read share their time;
 * charges lower a balance, so the lower of two at the same time is the later.
 */
export const balanceOrder = (atUs: string, remaining: string) => `(${atUs}, -${remaining})`
