import { flagSql } from '../../../attempt/flags.ts'
import type { Contract } from '../../../contract/contract.ts'
import { generatesSql } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import { literal } from '../../../store/literal.ts'
import { clockErrorUs } from '../../runs.ts'
import { withEarlier } from './earlier-runs.ts'
import { abandonments, type BalanceHistory, columnsOf, effects } from './history.ts'
import { highestPrice, type PricedEvidence, priceTable } from './price-table.ts'

interface Account {
  readonly runId: string
  readonly account: string
}

/**
 * One history for each account of each run: a run has one clock, an account one balance. Unsent attempts are omitted.
 */
export async function loadHistories(evidence: PricedEvidence): Promise<readonly BalanceHistory[]> {
  const accounts = await evidence.store.rows<Account>(
    `SELECT DISTINCT run_id AS "runId", coalesce(account, key_fp, '') AS account
     FROM attempts WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL
     ORDER BY 1, 2`,
    [JSON.stringify(evidence.runIds)],
  )
  const histories: BalanceHistory[] = []
  for (const account of accounts) histories.push(await loadHistory(evidence, account))
  return histories
}

async function loadHistory(evidence: PricedEvidence, account: Account): Promise<BalanceHistory> {
  const { store, contract } = evidence
  const [run] = await store.rows<{ scale: number; errorUs: number }>(
    `SELECT time_scale AS scale, ${clockErrorUs} AS "errorUs" FROM runs WHERE run_id = $1`,
    [account.runId],
  )
  const { scale = 1, errorUs = 0 } = run ?? {}
  const longestMs = longestMsOf(contract)
  const lifetimeUs = (longestMs * 1000) / scale
  const columns = await store.doubles(
    `WITH price(model, place, cost) AS (SELECT * FROM ${priceTable(contract)}),
       keys AS (SELECT key_fp, row_number() OVER (ORDER BY key_fp) AS nth
         FROM (SELECT DISTINCT key_fp FROM attempts
               WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2)),
       -- Steps with the same request are alike, even if one always aborts it.
       steps AS (SELECT step, dense_rank() OVER (ORDER BY coalesce(min(path || body), step)) AS nth
         FROM (SELECT DISTINCT run_id, step, template FROM attempts WHERE run_id = $1)
           LEFT JOIN (SELECT run_id, template, path, body FROM templates)
             USING (run_id, template)
         GROUP BY step)
     SELECT slot::DOUBLE, retry::DOUBLE, sent_us - $4::DOUBLE, headers_us + $4::DOUBLE,
       coalesce(closed_us, headers_us, sent_us) + $4::DOUBLE,
       CASE WHEN NOT ${generatesSql} THEN ${effects.read}
            WHEN outcome = 'http_error' THEN ${effects.failure}
            -- A served model outside the contract has no known price.
            -- A request that repeats an Idempotency-Key may be free (gap G-37).
            WHEN outcome = 'ok' AND price.cost IS NOT NULL AND NOT coalesce(repeats.again, false)
            THEN ${effects.charge}
            ELSE ${effects.ambiguous} END::DOUBLE AS effect,
       CASE WHEN NOT ${generatesSql} THEN 0
            ELSE coalesce(price.cost, ${highestPrice(contract)}) END::DOUBLE,
       CASE WHEN NOT ${flagSql('malformedCredits')} THEN coalesce(credits_remaining, told.balance) END::DOUBLE,
       streamed::DOUBLE, coalesce(price.place, -1)::DOUBLE,
       coalesce(keys.nth, 0)::DOUBLE, status::DOUBLE,
       steps.nth::DOUBLE, content_events::DOUBLE,
       CASE outcome WHEN 'aborted' THEN ${abandonments.aborted} WHEN 'timeout' THEN ${abandonments.timeout}
         ELSE ${abandonments.no} END::DOUBLE,
       CASE WHEN ${isInsufficient(contract)} THEN 1 ELSE 0 END::DOUBLE,
       CASE WHEN outcome = 'ok' THEN coalesce(closed_us, headers_us, sent_us)
            -- By then the service has passed its own deadline.
            ELSE sent_us + $3::DOUBLE END + $4::DOUBLE,
       (credits_remaining IS NULL AND told.balance IS NOT NULL AND endpoint = 'credits')::DOUBLE
     FROM attempts
       -- A service may accept a model's name in another case.
       LEFT JOIN price ON lower(attempts.model) = lower(price.model)
       LEFT JOIN (SELECT run_id, slot, retry, ${balanceTold} AS balance FROM bodies) told
         USING (run_id, slot, retry)
       LEFT JOIN (${repeatsOfKeys}) repeats USING (run_id, slot, retry)
       LEFT JOIN keys USING (key_fp)
       JOIN steps USING (step)
     WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2 AND sent_us IS NOT NULL
     ORDER BY sent_us, slot, retry`,
    [account.runId, account.account, lifetimeUs, errorUs],
  )
  const isPage = columns.at(-1)!
  const pages = Array.from(isPage.keys()).filter((row) => isPage[row] === 1)
  const history = {
    ...account,
    size: columns[0]!.length,
    ...columnsOf((_, at) => columns[at]!),
    lifetimeUs,
    ...(pages.length === 0 ? {} : { pages }),
  }
  return withEarlier(evidence, history)
}

/** How long a response may take by the contract. */
function longestMsOf(contract: Contract): number {
  const { readMs, streamMs } = usualOf(contract).timeouts
  return Math.max(readMs, streamMs)
}

/** Without a header, the balance may be a number with such a name in the body of the credits endpoint. */
const balanceTold = `try_cast(regexp_extract(body, '"[a-z_]*(?:remaining|balance)[a-z_]*"\\s*:\\s*(-?[0-9]{1,15})(?:[^0-9]|$)', 1, 'i') AS DOUBLE)`

/** Attempts with an Idempotency-Key; `again` if an earlier attempt had the same. */
const repeatsOfKeys = `
  SELECT run_id, slot, retry,
    row_number() OVER (PARTITION BY run_id, idempotency_key ORDER BY sent_us, slot, retry) > 1 AS again
  FROM (SELECT attempts.run_id, slot, retry, sent_us,
          regexp_extract(templates.headers, '"idempotency-key":"([^"]*)"', 1, 'i') AS idempotency_key
        FROM attempts JOIN templates USING (run_id, template))
  WHERE idempotency_key <> ''`

/**
 * SQL: whether an attempt was refused for lack of credits. A 403 may also be about permissions (§7.1), so its error
 * must use a word of the contract; a 402 is never about anything else.
 */
function isInsufficient({ chatErrors = [], messagesErrors = [] }: Contract): string {
  const chat = chatErrors.flatMap(({ code, type, status }) => (status === 403 ? [code, type] : []))
  const messages = messagesErrors.flatMap(({ type, statuses }) =>
    statuses?.length === 1 && statuses[0] === 403 ? [type] : [],
  )
  const words = [...chat, ...messages].filter((word) => /credit|quota|balance|fund/i.test(word))
  const said = words.map(literal).join(', ')
  const isRefusal = said === '' ? 'false' : `(error_code IN (${said}) OR error_type IN (${said}))`
  return `outcome = 'http_error' AND (status = 402 OR status = 403 AND ${isRefusal})`
}
