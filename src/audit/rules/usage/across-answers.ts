import { pricesOf } from '../../../contract/contract.ts'
import { promisedSql } from '../../../contract/request.ts'
import { literal } from '../../../store/literal.ts'
import { openPricesOf } from '../../evidence/balances.ts'
import { isEmpty } from '../../evidence/billing/open-prices.ts'
import type { PricedEvidence } from '../../evidence/billing/price-table.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { type Judged, judgedRule, type Observed } from '../exchange-rule.ts'
import { isAfter, pairs } from './pairs.ts'
import { named } from './report-rule.ts'

export const use07 = judgedRule({
  id: 'USE-07',
  title: 'Consumed credits never decrease',
  section: '§4.4',
  severity: 'must',
  needs: ['passive'],
  promised: ['paths.credits'],
  explain: `Compares responses of the credits endpoint for one key, one completely after the other. No
hour may be negative. A charge at the start may be refunded if its request fails or its client aborts
(gap G-13), so pairs with such requests before them are left out. ${named}`,
  expected: 'a count that only grows',
  requires: 'two captured answers of GET /user/credits for one key',
  async judged(evidence) {
    const reports = await usageReports(evidence)
    const givenBack = await evidence.store.rows<{ runId: string; sentUs: number }>(
      `SELECT run_id AS "runId", min(sent_us)::DOUBLE AS "sentUs" FROM attempts
       WHERE list_contains($1::VARCHAR[], run_id) AND ${promisedSql}
         AND (outcome IN ('aborted', 'timeout', 'broken') OR status >= 500)
       GROUP BY run_id`,
      [JSON.stringify(evidence.runIds)],
    )
    const mayFall = ({ exchange: { row } }: UsageReport) =>
      givenBack.some(({ runId, sentUs }) => runId === row.runId && sentUs < row.sentUs)
    const negative = reports.map(({ exchange, hours }): Judged => {
      const isBelow = hours?.some(({ credits }) => (credits ?? 0) < 0)
      return [exchange, isBelow ? 'an hour below zero' : undefined]
    })
    const falling = pairs(reports).map(([earlier, later]): Judged => {
      if (earlier.consumed === null || later.consumed === null) return [later.exchange, undefined]
      if (!isAfter(later, earlier) || mayFall(later)) return [later.exchange, undefined]
      const observed =
        later.consumed < earlier.consumed
          ? `${later.consumed} after ${earlier.consumed} consumed`
          : null
      return [later.exchange, observed]
    })
    return [...negative, ...falling]
  },
})

interface Counted {
  readonly requests: number
  readonly credits: number
  readonly tokens: number
}

export const use04 = judgedRule({
  id: 'USE-04',
  title: 'On an account without other traffic, usage equals the cost of our attempts',
  section: '§4.4',
  severity: 'must',
  needs: ['active', 'quiescence'],
  promised: ['paths.credits', 'models.cost_credits'],
  explain: `Between two responses of the credits endpoint with nothing in flight, consumed must grow by
the cost of our successes, and requests by their number. If reads cost credits (gap G-17), their cost is
added, and they may count as requests. Stretches are excluded if they contain
ambiguous attempts, or answers without a token, which may be free (gap G-16).
${named}`,
  expected: 'consumed and requests that grow by what we sent',
  requires:
    'two captured answers of GET /user/credits with nothing in flight, and successes in between',
  async judged(evidence) {
    const reports = pairs(await usageReports(evidence))
    return Promise.all(
      reports.map(
        async ([earlier, later]): Promise<Judged> => [
          later.exchange,
          await compared(evidence, earlier, later),
        ],
      ),
    )
  },
})

async function compared(
  evidence: PricedEvidence,
  earlier: UsageReport,
  later: UsageReport,
): Promise<Observed> {
  const { store, contract } = evidence
  const { reads, openReads } = await openPricesOf(evidence)
  const [from, to] = [earlier.exchange.row, later.exchange.row]
  const prices = pricesOf(contract).map(
    ({ id, costCredits }) => `WHEN ${literal(id)} THEN ${costCredits}`,
  )
  const [between] = await store.rows<
    Counted & {
      ambiguous: number
      crossing: number
      readCredits: number
      reads: number
      openReads: number
    }
  >(
    `WITH ours AS (
       SELECT attempts.*, outcome = 'ok' AS charged,
         coalesce(templates.headers ILIKE '%"idempotency-key"%', false) AS keyed,
         outcome = 'ok' AND ${isEmpty} AS empty
       FROM attempts LEFT JOIN templates USING (run_id, template)
       WHERE run_id = $1 AND sent_us IS NOT NULL
         AND account = (SELECT account FROM attempts WHERE run_id = $1 AND slot = $2 LIMIT 1)),
       -- One of the two responses includes its own price, whether charged before or after it was made.
       paid AS (SELECT CASE endpoint WHEN 'models' THEN ${reads.models} WHEN 'credits' THEN ${reads.credits}
           END AS price
         FROM ours WHERE outcome = 'ok' AND sent_us > $3::BIGINT AND sent_us <= $5::BIGINT)
     SELECT (SELECT coalesce(sum(price), 0) FROM paid)::DOUBLE AS "readCredits",
       (SELECT count(*) FROM paid WHERE price > 0)::DOUBLE AS reads,
       (SELECT count(*) FROM ours WHERE outcome = 'ok' AND list_contains($7::VARCHAR[], endpoint)
         AND sent_us > $3::BIGINT AND sent_us <= $5::BIGINT)::DOUBLE AS "openReads",
       count(*) FILTER (charged AND sent_us > $4::BIGINT AND closed_us < $5::BIGINT)::DOUBLE AS requests,
       coalesce(sum(CASE model ${prices.join(' ')} ELSE 1 END)
         FILTER (charged AND sent_us > $4::BIGINT AND closed_us < $5::BIGINT), 0)::DOUBLE AS credits,
       0::DOUBLE AS tokens,
       count(*) FILTER ((outcome IN ('broken', 'timeout', 'aborted') OR keyed) AND sent_us < $5::BIGINT
         OR empty AND sent_us BETWEEN $3::BIGINT AND $6::BIGINT)::DOUBLE AS ambiguous,
       count(*) FILTER (charged AND (sent_us < $3::BIGINT AND closed_us >= $4::BIGINT
         OR sent_us BETWEEN $3::BIGINT AND $4::BIGINT OR closed_us >= $5::BIGINT AND sent_us < $6::BIGINT
         OR sent_us <= $3::BIGINT AND closed_us >= $3::BIGINT))::DOUBLE AS crossing
     FROM ours WHERE ${promisedSql}`,
    [
      from.runId,
      BigInt(from.slot),
      BigInt(from.sentUs),
      BigInt(from.closedUs ?? from.sentUs),
      BigInt(to.sentUs),
      BigInt(to.closedUs ?? to.sentUs),
      JSON.stringify(openReads),
    ],
  )
  if (between === undefined || between.ambiguous > 0 || between.crossing > 0) return undefined
  if (between.requests === 0 || between.openReads > 0) return undefined
  if (earlier.consumed !== null && later.consumed !== null) {
    const grew = later.consumed - earlier.consumed
    const cost = between.credits + between.readCredits
    if (grew !== cost) return `consumed grew by ${grew}, our successes cost ${cost}`
  }
  if (earlier.requests !== null && later.requests !== null) {
    const grew = later.requests - earlier.requests
    if (grew !== between.requests && grew !== between.requests + between.reads)
      return `requests grew by ${grew}, we had ${between.requests} successes`
  }
  return earlier.consumed === null && earlier.requests === null ? undefined : null
}
