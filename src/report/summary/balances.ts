import { type Contract, pricesOf } from '../../contract/contract.ts'
import { balanceOrder, creditsSql } from '../../measure/credits.ts'
import type { Session } from '../../store/session/session.ts'
import { rate, whole } from './figures.ts'
import type { RunSummary } from './shape.ts'

export type Balance = RunSummary['credits']['balances'][number]

/**
 * The first and the last balance of each account, a and b, with what was taken between them and what the contract expects
 * for the same stretch. What a and b themselves cost in it depends on what a header shows (gap G-12):
 *
 *     a header shows the balance   a costs       b costs
 *     after its own charge         0             its price
 *     before it                    its price     0
 *     one of the two               from the lower to the higher of their prices, together
 *
 * Which of them holds is known for plain answers, or for streams, if a charged request that was alone precedes a free one.
 * Requests in flight at either reading, and those without a known end, may count or not.
 */
export async function readBalances(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<readonly Balance[]> {
  const order = balanceOrder('at_us', 'remaining')
  const edge = (of: 'arg_min' | 'arg_max') =>
    `${of}({ remaining: remaining, sent_us: sent_us, ended_us: ended_us, slot: slot, retry: retry,
      streamed: streamed, price: if(outcome = 'ok', price, 0) }, ${order}) FILTER (remaining IS NOT NULL AND at_us IS NOT NULL)`
  const rows = await session.rows<Balance & { readonly unpriced: number }>(
    `WITH priced AS NOT MATERIALIZED (
       SELECT coalesce(account, key_fp, '(unknown)') AS account, slot, retry, sent_us,
         coalesce(streamed, 0) AS streamed,
         greatest(closed_us, headers_us, sent_us) AS ended_us, coalesce(headers_us, done_us) AS at_us,
         own_outcome AS outcome, credits_remaining AS remaining, price
       -- The price of each if it succeeded.
       FROM (SELECT *, ${creditsSql(pricesOf(contract))} AS price
             FROM (SELECT * REPLACE ('ok' AS outcome), outcome AS own_outcome
                   FROM attempts WHERE run_id = $1 AND sent_us IS NOT NULL))),
     edges AS (
       SELECT account, ${edge('arg_min')} AS a, ${edge('arg_max')} AS b
       FROM priced GROUP BY account HAVING a IS NOT NULL),
     in_turn AS (
       SELECT *, coalesce(max(ended_us) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) <= sent_us, true)
           AND lead(sent_us) OVER in_order >= ended_us AS alone,
         lead(remaining) OVER in_order AS remaining_after, lead(price) OVER in_order AS price_after,
         lead(outcome = 'ok') OVER in_order AS ok_after
       FROM priced WINDOW in_order AS (PARTITION BY account ORDER BY sent_us, slot, retry)),
     -- Whether a header holds its own charge; null if neither, or if nothing shows it.
     shows AS (
       SELECT account, streamed,
         CASE WHEN bool_and(remaining = remaining_after) THEN true
              WHEN bool_and(remaining - price = remaining_after) THEN false END AS own
       FROM in_turn
       WHERE alone AND outcome = 'ok' AND price > 0 AND ok_after AND price_after = 0
         AND remaining IS NOT NULL AND remaining_after IS NOT NULL
       GROUP BY account, streamed),
     -- The charge of either reading in the stretch; null if it may be in it or not.
     ends AS (
       SELECT edges.account, a.slot = b.slot AND a.retry = b.retry AS same,
         CASE WHEN same OR a.price = 0 OR of_a.own THEN 0 WHEN NOT of_a.own THEN a.price END AS by_a,
         CASE WHEN same OR b.price = 0 OR NOT of_b.own THEN 0 WHEN of_b.own THEN b.price END AS by_b,
         CASE WHEN by_a IS NULL AND by_b IS NULL THEN least(a.price, b.price)
              ELSE coalesce(by_a, 0) + coalesce(by_b, 0) END AS least_ends,
         CASE WHEN by_a IS NULL AND by_b IS NULL THEN greatest(a.price, b.price)
              ELSE coalesce(by_a, a.price) + coalesce(by_b, b.price) END AS most_ends
       FROM edges
       LEFT JOIN shows AS of_a ON of_a.account = edges.account AND of_a.streamed = a.streamed
       LEFT JOIN shows AS of_b ON of_b.account = edges.account AND of_b.streamed = b.streamed),
     between AS (
       SELECT priced.*, a, b,
         sent_us >= a.ended_us AND ended_us <= b.sent_us AS surely,
         outcome IN ('ok', 'broken', 'timeout', 'aborted') AS costs
       FROM priced JOIN edges USING (account)
       WHERE NOT (slot = a.slot AND retry = a.retry) AND NOT (slot = b.slot AND retry = b.retry)
         -- A request that ended well before the first reading was charged before it.
         AND sent_us < b.ended_us AND (outcome <> 'ok' OR ended_us > a.sent_us))
     SELECT account, any_value(a.remaining) AS first, any_value(b.remaining) AS last,
       any_value(a.remaining) - any_value(b.remaining) AS taken,
       coalesce(sum(price) FILTER (costs AND outcome = 'ok' AND surely), 0)
         + any_value(least_ends) AS expected,
       coalesce(sum(price) FILTER (costs), 0)
         + any_value(most_ends) AS "expectedAtMost",
       count(*) FILTER (costs AND price IS NULL) AS unpriced
     FROM edges JOIN ends USING (account) LEFT JOIN (SELECT account, sent_us, outcome, price, surely, costs FROM between) USING (account)
     GROUP BY account ORDER BY account`,
    [runId],
  )
  return rows.map(({ unpriced, ...row }) =>
    unpriced > 0 || row.expected === null || row.expectedAtMost === null
      ? { ...row, expected: null, expectedAtMost: null, unexplained: null }
      : { ...row, unexplained: unexplainedOf(row.taken, row.expected, row.expectedAtMost) },
  )
}

/** Positive if more was taken than anything explains, negative if less. */
const unexplainedOf = (taken: number, least: number, most: number): number =>
  taken > most ? taken - most : Math.min(0, taken - least)

/** Sums over the accounts whose prices are known; null if there is none. */
export function totalOf(balances: readonly Balance[]) {
  const known = balances.filter(({ unexplained }) => unexplained !== null)
  if (known.length === 0) return null
  const sum = (of: (balance: Balance) => number) =>
    known.reduce((total, balance) => total + of(balance), 0)
  return {
    accounts: known.length,
    taken: sum(({ taken }) => taken),
    expected: sum(({ expected }) => expected!),
    expectedAtMost: sum((each) => each.expectedAtMost!),
    /** Too much in one account and too little in another are both unexplained. */
    unexplained: sum(({ unexplained }) => Math.abs(unexplained!)),
  }
}

/** What was taken and expected between the same two readings; null without a balance or a price. */
export function stretchText(balances: readonly Balance[]): string | null {
  const total = totalOf(balances)
  if (total === null) return null
  const { accounts, taken, expected, expectedAtMost, unexplained } = total
  const due =
    expected === expectedAtMost ? rate(expected) : `${rate(expected)} to ${rate(expectedAtMost)}`
  const of = accounts === 1 ? '' : `, ${whole(accounts)} accounts`
  return `between the first and the last balance${of}: ${rate(taken)} taken, ${due} expected, ${rate(unexplained)} unexplained`
}
