import { sqlName } from '../../attempt/columns.ts'
import { filterReasonSql } from '../../attempt/filter-reasons.ts'
import type { Outcome } from '../../attempt/outcome.ts'
import { billingOf } from '../../contract/billing.ts'
import type { Contract } from '../../contract/contract.ts'
import { generatesSql } from '../../contract/request.ts'
import { AttemptCosts } from './attempt-costs.ts'
import { severalPassesSql, type TokenColumns, tokenColumnNames } from './column-usage.ts'
import { priceMomentSql } from './price-moments.ts'

/** Whoever answers queries over the rows of attempts. */
interface Rows {
  rows<Row>(sql: string, values?: readonly string[]): Promise<readonly Row[]>
}

/** Attempts whose cost is the same: they differ in nothing that a price depends on. */
export interface CostKind {
  readonly runId: string
  /** Its step, or what the attempts are told apart by instead. */
  readonly step: string
  readonly n: number
  readonly outcome: Outcome
  /** Units of 10^-18 for one of them; null if it is not known. */
  readonly units: bigint | null
  readonly key: CostKey
}

type CostKey = Readonly<Record<string, string | number | boolean | null>>

/** What a cost depends on, as SQL over `attempts` and `templates`. */
export const costKeySql: Readonly<Record<string, string>> = {
  model: 'attempts.model',
  response_model: 'attempts.response_model',
  outcome: 'attempts.outcome',
  finish_reason: `CASE WHEN ${filterReasonSql('attempts.finish_reason')} THEN attempts.finish_reason END`,
  several_passes: severalPassesSql,
  ...Object.fromEntries(
    tokenColumnNames.map((name) => [sqlName(name), `attempts.${sqlName(name)}`]),
  ),
}

/** What a cost depends on with service tiers. */
export const tierSql = `CASE WHEN json_valid(templates.body) THEN json_extract_string(templates.body, '$.service_tier') END`

export interface PricedRuns {
  readonly unit: string
  readonly kinds: readonly CostKind[]
  /** The columns of a key, as SQL. */
  readonly keySql: Readonly<Record<string, string>>
  /** The tables of the attempts, and which of them can cost: what follows FROM, and WHERE. */
  readonly from: string
  readonly where: string
}

/**
 * What the attempts of these runs cost by the contract, from their tokens; null if it states no prices for their models.
 *
 * @param runIds null for all runs of the contract's name
 * @param only.by SQL of what is told apart
 * @param only.where SQL of the attempts that count
 */
export async function readRunCosts(
  store: Rows,
  runIds: readonly string[],
  contract: Contract,
  only: { readonly by?: string; readonly where?: string } = {},
): Promise<PricedRuns | null> {
  const { by = 'attempts.step', where: counts = 'true' } = only
  const models = await store.rows<{ model: string | null }>(
    `SELECT DISTINCT coalesce(model, response_model) AS model FROM request_kinds
       LEFT JOIN (SELECT DISTINCT request_kind, ending FROM all_rows) USING (request_kind)
       LEFT JOIN endings USING (ending)
     WHERE list_contains($1::VARCHAR[], run_id)`,
    [JSON.stringify(runIds)],
  )
  const billing = billingOf(
    contract,
    models.map(({ model }) => model),
  )
  if (billing.kind !== 'money') return null
  const { prices } = billing
  const hasTiers = prices.models.some(({ service }) => Object.keys(service).length > 0)
  const isTimed = prices.models.some(({ hours, changes }) => hours.length + changes.length > 0)
  const keySql = {
    ...costKeySql,
    ...(hasTiers ? { service_tier: tierSql } : {}),
    ...(isTimed ? { priced_ms: priceMomentSql(prices.models) } : {}),
  }
  const from = `attempts JOIN runs USING (run_id)
       ${hasTiers ? 'LEFT JOIN templates USING (run_id, template)' : ''}`
  const where = `attempts.sent_us IS NOT NULL AND attempts.outcome <> 'not_sent' AND ${generatesSql}`
  const columns = Object.entries(keySql).map(([name, sql]) => `${sql} AS "${name}"`)
  const rows = await store.rows<CostKey & { runId: string; step: string; n: number }>(
    `SELECT run_id AS "runId", ${by} AS step, count(*)::DOUBLE AS n, ${columns.join(', ')}
     FROM ${from} WHERE ${where} AND ${counts} AND list_contains($1::VARCHAR[], run_id) GROUP BY ALL`,
    [JSON.stringify(runIds)],
  )
  const costs = new AttemptCosts(contract, prices)
  return {
    unit: prices.currency.name,
    keySql,
    from,
    where,
    kinds: rows.map(({ runId, step, n, ...key }) => ({
      runId,
      step,
      n,
      outcome: key.outcome as Outcome,
      units: costs.unitsOf(costedOf(key)),
      key,
    })),
  }
}

function costedOf(key: CostKey) {
  const tokens = Object.fromEntries(
    tokenColumnNames.map((name) => [name, key[sqlName(name)] ?? null]),
  ) as unknown as TokenColumns
  return {
    ...tokens,
    severalPasses: key.several_passes === true,
    model: key.model as string | null,
    responseModel: key.response_model as string | null,
    outcome: key.outcome as Outcome,
    finishReason: key.finish_reason as string | null,
    serviceTier: (key.service_tier ?? null) as string | null,
    atMs: Number(key.priced_ms ?? 0),
  }
}
