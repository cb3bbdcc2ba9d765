import { endRun, startRun } from '../src/store/runs/runs.ts'
import { adoptAttempts } from '../test/store/edit-attempts.ts'
import type { Store } from '../test/store/opened.ts'

/** Accounts, keys of each, and requests that a key sends in a busy minute: 20 more than its limit. */
const accounts = 4
const keys = 16
const perMinute = 520
/** Requests that a key sends at once. */
const together = 8
/** A key is busy for this long at the beginning of each hour, which keeps it below the hour's limit. */
const busyMinutes = 15

/**
 * A long run as the store would have kept it, made by the database itself: four accounts of sixteen
 * keys each, dozens of requests of an account in flight, one in twenty left by its client. Charges are
 * atomic, the limiter has fixed windows (500 a minute and key), and every answer shows both.
 */
export async function writeAuditHistory(store: Store, attempts: number): Promise<void> {
  const startedMs = Date.UTC(2026, 10, 1)
  await startRun(store, {
    runId: 'bench',
    kind: 'run',
    scenario: 'bench',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://127.0.0.1:1',
    contract: 'svc',
    startedAtUs: startedMs * 1000,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  })
  const end = { endedUs: 0, attemptCountsJson: '{}', verdictJson: '[]' }
  await endRun(store, 'bench', { ...end, verdict: 'valid' })
  await store.execute('CREATE TEMP TABLE made AS FROM attempts LIMIT 0')
  await store.execute(`
    INSERT INTO made BY NAME
    WITH planned AS (
      SELECT i AS slot, i % ${accounts} AS owner, i // ${accounts} % ${keys} AS key,
        i // ${accounts * keys} AS nth, hash(i) % 1000 AS luck, hash(i + 7) % 120000 AS jitter
      FROM range(${attempts}) t(i)),
    timed AS (
      SELECT *, 'account-' || owner AS account, owner || '-' || key AS key_fp,
        ((nth // ${perMinute * busyMinutes} * 60 + nth // ${perMinute} % ${busyMinutes}) * 60000000
          + (nth % ${perMinute} // ${together} + key / ${keys} + owner / 97) * ${together} * 60000000 // ${perMinute})::BIGINT AS sent_us,
        luck < 50 AS aborted, CASE WHEN luck % 10 = 0 THEN 2 ELSE 1 END AS cost
      FROM planned),
    decided AS (
      SELECT *, sent_us + 5000 + jitter % 50000 AS decided_us, sent_us + 60000 + jitter AS closed_us
      FROM timed),
    admitted AS (
      SELECT *, decided_us // 60000000 AS minute,
        row_number() OVER (PARTITION BY key_fp, decided_us // 60000000 ORDER BY decided_us, slot) AS used
      FROM decided),
    charged AS (
      SELECT *, used > 500 AS refused,
        10000000 - sum(CASE WHEN aborted OR used > 500 THEN 0 ELSE cost END)
          OVER (PARTITION BY account ORDER BY decided_us, slot) AS left_over
      FROM admitted)
    SELECT 'bench' AS run_id, slot, 0 AS retry, 0 AS shard, 'main' AS phase, 'steady' AS part,
      'chat' AS step, account, key_fp, 'chat' AS endpoint, 0 AS streamed,
      CASE cost WHEN 2 THEN 'svc-k2.5' ELSE 'svc-k2' END AS model, 'ok' AS expects,
      sent_us AS intended_us, sent_us AS dispatched_us, sent_us,
      CASE WHEN refused THEN decided_us WHEN NOT aborted THEN closed_us END AS headers_us,
      CASE WHEN refused THEN decided_us ELSE closed_us END AS done_us,
      CASE WHEN refused THEN decided_us ELSE closed_us END AS closed_us,
      CASE WHEN refused THEN 'http_error' WHEN aborted THEN 'aborted' ELSE 'ok' END AS outcome,
      CASE WHEN refused THEN 429 WHEN NOT aborted THEN 200 END AS status,
      CASE WHEN refused THEN 'chat' END AS error_shape,
      CASE WHEN refused THEN 'rate_limit_exceeded' END AS error_code,
      CASE WHEN refused THEN 'rate_limit_error' END AS error_type,
      CASE WHEN NOT refused AND NOT aborted THEN left_over::DOUBLE END AS credits_remaining,
      CASE WHEN refused OR NOT aborted THEN 500 END AS rate_limit,
      CASE WHEN refused OR NOT aborted THEN greatest(0, 500 - used) END AS rate_remaining,
      CASE WHEN refused OR NOT aborted THEN ${startedMs / 1000} + (minute + 1) * 60 END AS rate_reset,
      CASE WHEN refused THEN ceil((minute + 1) * 60 - decided_us / 1e6) END AS retry_after,
      CASE WHEN refused THEN ${startedMs / 1000} + decided_us // 1000000
           WHEN NOT aborted THEN ${startedMs / 1000} + closed_us // 1000000 END AS date_s,
      CASE WHEN NOT refused AND NOT aborted THEN 'id-' || slot END AS response_id,
      CASE WHEN NOT refused AND NOT aborted THEN CASE cost WHEN 2 THEN 'svc-k2.5' ELSE 'svc-k2' END END AS response_model,
      CASE WHEN NOT refused AND NOT aborted THEN 'stop' END AS finish_reason,
      CASE WHEN NOT refused AND NOT aborted THEN 1 END AS choices,
      CASE WHEN NOT refused AND NOT aborted THEN 10 END AS prompt_tokens,
      CASE WHEN NOT refused AND NOT aborted THEN 20 END AS completion_tokens,
      CASE WHEN NOT refused AND NOT aborted THEN 30 END AS total_tokens,
      0 AS events, 0 AS unknown_events, 0 AS content_events, 0 AS content_reads, 0 AS done_marks, 500 AS bytes_in, 192 AS flags
    FROM charged ORDER BY closed_us, slot`)
  await adoptAttempts(store, 'made')
}
