import { flagSql } from '../../../attempt/flags.ts'
import type { Contract } from '../../../contract/contract.ts'
import { refusalsFor } from '../../../contract/refusals.ts'
import { generatesSql } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import { literal } from '../../../store/literal.ts'
import { clockErrorUs } from '../../runs.ts'
import { eachOrderedGroup } from '../ordered-groups.ts'
import type { RowOrder } from '../partition.ts'
import { withEarlier } from './earlier-runs.ts'
import {
  abandonmentSql,
  type BalanceHistory,
  columnsSql,
  effects,
  onDisk,
  selectedColumns,
  timeoutSql,
} from './history.ts'
import { maybePaidSql } from './maybe-paid.ts'
import { highestPrice, type PricedEvidence, priceTable } from './price-table.ts'
import { toldBalances } from './told-balances.ts'

interface AuditedAccounts {
  readonly runId: string
  /** In the order of their names. */
  readonly accounts: readonly string[]
  readonly scale: number
  readonly errorUs: number
  /** Whether another run of the store used the service, so that earlier attempts may still be charged. */
  readonly hasOthers: boolean
  /** Whether requests had an Idempotency-Key. */
  readonly hasKeys: boolean
}

/** One history for each account of each run, without unsent attempts. On disk if the evidence has a file for them. */
export async function loadHistories(evidence: PricedEvidence): Promise<readonly BalanceHistory[]> {
  const runs = await evidence.store.rows<AuditedAccounts>(
    `SELECT run_id AS "runId", accounts, time_scale AS scale, ${clockErrorUs} AS "errorUs",
       EXISTS (SELECT 1 FROM runs other WHERE other.base_url = runs.base_url AND other.run_id <> runs.run_id) AS "hasOthers",
       EXISTS (SELECT 1 FROM templates WHERE templates.run_id = runs.run_id AND ${idempotencyKey} <> '') AS "hasKeys"
     FROM runs JOIN (
       SELECT run_id, list(DISTINCT ${accountSql} ORDER BY ${accountSql}) AS accounts
       FROM attempts WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL GROUP BY run_id)
       USING (run_id)
     ORDER BY run_id`,
    [JSON.stringify(evidence.runIds)],
  )
  const histories: BalanceHistory[] = []
  for (const run of runs) {
    for (const history of await historiesOf(evidence, run)) histories.push(history)
  }
  return histories
}

const accountSql = `coalesce(account, key_fp, '')`

/** The histories of one run. The query returns account after account, so each ends where the next begins. */
async function historiesOf(
  evidence: PricedEvidence,
  run: AuditedAccounts,
): Promise<readonly BalanceHistory[]> {
  const { contract, columns: file } = evidence
  const lifetimeUs = (longestMsOf(contract) * 1000) / run.scale
  const histories: BalanceHistory[] = []
  const enter = async (account: number, columns: readonly Float64Array[]) => {
    const isPage = columns.at(-1)!
    const pages = Array.from(isPage.keys()).filter((row) => isPage[row] === 1)
    const selected = selectedColumns(columns)
    const history = {
      runId: run.runId,
      account: run.accounts[account]!,
      size: columns[0]!.length,
      ...selected,
      value: isWithoutLimit(selected.value) ? selected.value.map(() => Number.NaN) : selected.value,
      lifetimeUs,
      ...(pages.length === 0 ? {} : { pages }),
    }
    const whole = run.hasOthers ? await withEarlier(evidence, history) : history
    histories.push(file === undefined ? whole : onDisk(whole, file))
  }

  // In the large query, the database would guess that these are many, and keep all attempts in memory to join them.
  const small: string[] = []
  for (const sql of [keysSql, stepsSql])
    small.push(JSON.stringify(await evidence.store.rows(sql, [run.runId])))
  small.push(JSON.stringify(await toldBalances(evidence, run.runId)))
  const query = {
    sql: historySql(contract, run.hasKeys),
    parameters: [run.runId, JSON.stringify(run.accounts), lifetimeUs, run.errorUs, ...small],
    orderSql: 'owner, sent_us, slot, retry',
    orderOf: byCall,
  }
  await eachOrderedGroup(evidence, query, enter)
  return histories
}

/** Whether every value is -1: a word for an account without a limit, and no balance. */
function isWithoutLimit(values: Float64Array): boolean {
  const shown = values.filter((value) => !Number.isNaN(value))
  return shown.length > 1 && shown.every((value) => value === -1)
}

const byCall: RowOrder = (columns) => {
  const { callUs, slot, retry } = selectedColumns(columns)
  return (a, b) => callUs[a]! - callUs[b]! || slot[a]! - slot[b]! || retry[a]! - retry[b]!
}

/** The keys of each account by their number in it. */
const keysSql = `
  SELECT account_name, key_fp, row_number() OVER (PARTITION BY account_name ORDER BY key_fp) AS nth
  FROM (SELECT DISTINCT ${accountSql} AS account_name, key_fp FROM attempts WHERE run_id = $1)`

/** Steps with the same request are alike, even if one always aborts it. */
const stepsSql = `
  SELECT step, dense_rank() OVER (ORDER BY coalesce(min(path || body), step)) AS nth, min(method) AS method
  FROM (SELECT DISTINCT run_id, step, template FROM attempts WHERE run_id = $1)
    LEFT JOIN (SELECT run_id, template, path, body, method FROM templates) USING (run_id, template)
  GROUP BY step`

/** The number of the account, then the columns of a history, then whether the value is that of a page. */
const historySql = (contract: PricedEvidence['contract'], hasKeys: boolean) => `
  WITH price(model, place, cost) AS (SELECT * FROM ${priceTable(contract)}),
    owners AS (SELECT unnest(from_json($2, '["VARCHAR"]')) AS account, unnest(range(len(from_json($2, '["VARCHAR"]')))) AS owner),
    sent AS (SELECT *, ${accountSql} AS account_name FROM attempts WHERE run_id = $1 AND sent_us IS NOT NULL),
    keys AS (SELECT unnest(from_json($5, '[{"account_name": "VARCHAR", "key_fp": "VARCHAR", "nth": "INTEGER"}]'), recursive := true)),
    steps AS (SELECT unnest(from_json($6, '[{"step": "VARCHAR", "nth": "INTEGER", "method": "VARCHAR"}]'), recursive := true)),
    told AS (SELECT unnest(from_json($7, '[{"slot": "BIGINT", "retry": "INTEGER", "balance": "DOUBLE"}]'), recursive := true))
  SELECT owner::DOUBLE,
    ${columnsSql({
      slot: 'slot',
      retry: 'retry',
      callUs: 'sent_us - $4::DOUBLE',
      readUs: 'headers_us + $4::DOUBLE',
      endUs: 'coalesce(closed_us, headers_us, sent_us) + $4::DOUBLE',
      // A served model outside the contract has no known price.
      // A request that repeats an Idempotency-Key may be free (gap G-37).
      effect: `CASE WHEN ${maybePaid} AND outcome <> 'http_error' THEN ${effects.ambiguous}
         WHEN NOT ${generatesSql} THEN ${effects.read}
         WHEN outcome = 'http_error' THEN ${effects.failure}
         WHEN outcome = 'ok' AND price.cost IS NOT NULL AND NOT coalesce(repeats.again, false)
         THEN ${effects.charge}
         ELSE ${effects.ambiguous} END`,
      costCredits: `CASE WHEN NOT (${generatesSql} OR ${maybePaid}) THEN 0 ELSE coalesce(price.cost, ${highestPrice(contract)}) END`,
      value: `CASE WHEN NOT ${flagSql('malformedCredits')} THEN coalesce(credits_remaining, told.balance) END`,
      streamed: 'streamed',
      model: 'coalesce(price.place, -1)',
      key: 'coalesce(keys.nth, 0)',
      status: 'status',
      step: 'steps.nth',
      contentEvents: 'content_events',
      abandonment: abandonmentSql,
      timeout: timeoutSql,
      insufficient: `CASE WHEN ${isInsufficient(contract)} THEN 1 ELSE 0 END`,
      // By then the service has passed its own deadline.
      settlesByUs: `CASE WHEN outcome = 'ok' THEN coalesce(closed_us, headers_us, sent_us) ELSE sent_us + $3::DOUBLE END + $4::DOUBLE`,
    })},
    (credits_remaining IS NULL AND told.balance IS NOT NULL AND endpoint = 'credits')::DOUBLE
  FROM sent
    JOIN owners ON account_name = owners.account
    -- A service may accept a model's name in another case.
    LEFT JOIN price ON lower(sent.model) = lower(price.model)
    LEFT JOIN told USING (slot, retry)
    LEFT JOIN (${hasKeys ? repeatsOfKeys : noRepeats}) repeats USING (run_id, slot, retry)
    LEFT JOIN keys USING (account_name, key_fp)
    JOIN steps USING (step)`

const maybePaid = `coalesce(${maybePaidSql('steps.method')}, false)`

/** How long the service itself lets a request last, at most, in milliseconds. */
export function longestMsOf(contract: Contract): number {
  const { readMs, streamMs } = usualOf(contract).timeouts
  return Math.max(readMs, streamMs)
}

/** The key under which a request may be sent again, of the headers of its template; empty without one. */
export const idempotencyKeySql = (headers: string) =>
  `regexp_extract(${headers}, '"idempotency-key":"([^"]*)"', 1, 'i')`
const idempotencyKey = idempotencyKeySql('headers')

/** Attempts with an Idempotency-Key; `again` if an earlier attempt had the same. */
const repeatsOfKeys = `
  SELECT run_id, slot, retry,
    row_number() OVER (PARTITION BY run_id, idempotency_key ORDER BY sent_us, slot, retry) > 1 AS again
  FROM attempts JOIN (
    SELECT run_id, template, ${idempotencyKey} AS idempotency_key FROM templates) USING (run_id, template)
  WHERE idempotency_key <> ''`

/** Without keys. The database guesses that as many repeat as there are attempts. */
const noRepeats = `
  SELECT NULL::VARCHAR AS run_id, NULL::BIGINT AS slot, NULL::INTEGER AS retry, false AS again WHERE false`

/** SQL: refused for lack of credits, by a word that the contract has for the status: a 403 or 429 may be about something else (§7.1). */
function isInsufficient(contract: Contract): string {
  const said = refusalsFor('credits', contract).map(
    ({ word, status }) =>
      `status = ${status} AND (error_code = ${literal(word)} OR error_type = ${literal(word)})`,
  )
  return `outcome = 'http_error' AND (${['status = 402', ...said].join(' OR ')})`
}
