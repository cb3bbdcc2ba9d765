/**
 * How long the audit of many attempts takes, and how much memory: `node bench/audit.ts [attempts]`.
 *
 * Writes a history of 64-way traffic with aborts, as a run would have left it, and audits it whole in
 * a process of its own, so that its peak of memory is the audit's.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { audit } from '../src/audit/audit.ts'
import { defaultContract } from '../src/contract/default.ts'
import { openStore, type Store } from '../src/store/open.ts'
import { startRun } from '../src/store/runs.ts'

const perAccount = 250_000

/** One row for each attempt, made by the database itself: four accounts, 64 in flight on each. */
async function fill(store: Store, attempts: number): Promise<void> {
  await startRun(store, {
    runId: 'bench',
    kind: 'run',
    scenario: 'bench',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://127.0.0.1:1',
    contract: 'svc',
    startedAtUs: Date.UTC(2026, 10, 1) * 1000,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  })
  const share = Math.min(perAccount, Math.ceil(attempts / 4))
  await store.execute(`
    INSERT INTO attempts BY NAME
    WITH planned AS (
      SELECT i AS slot, i // ${share} AS owner, i % ${share} AS nth, hash(i) % 1000 AS luck
      FROM range(${attempts}) t(i)),
    timed AS (
      SELECT *, 'account-' || owner AS account, nth * 1000 AS sent_us,
        nth * 1000 + 20000 + (hash(slot + 7) % 40000)::BIGINT AS closed_us,
        luck < 50 AS aborted, CASE WHEN luck % 10 = 0 THEN 2 ELSE 1 END AS cost
      FROM planned),
    charged AS (
      -- Taken at a moment inside each request; the header shows what is left right then.
      SELECT *, CASE WHEN aborted THEN NULL ELSE 10000000 - sum(CASE WHEN aborted THEN 0 ELSE cost END)
        OVER (PARTITION BY account ORDER BY sent_us + 10000, slot) END AS left_over
      FROM timed)
    SELECT 'bench' AS run_id, slot, 0 AS retry, 0 AS shard, 'main' AS phase, 'steady' AS part,
      'chat' AS step, account, 'key-' || account AS key_fp, 'chat' AS endpoint, 0 AS streamed,
      CASE cost WHEN 2 THEN 'svc-k2.5' ELSE 'svc-k2' END AS model, 'ok' AS expects,
      sent_us AS intended_us, sent_us AS dispatched_us, sent_us, CASE WHEN NOT aborted THEN closed_us END AS headers_us,
      closed_us AS done_us, closed_us, CASE WHEN aborted THEN 'aborted' ELSE 'ok' END AS outcome,
      CASE WHEN NOT aborted THEN 200 END AS status, left_over::DOUBLE AS credits_remaining,
      'id-' || slot AS response_id, CASE cost WHEN 2 THEN 'svc-k2.5' ELSE 'svc-k2' END AS response_model,
      'stop' AS finish_reason, 1 AS choices, 10 AS prompt_tokens, 20 AS completion_tokens, 30 AS total_tokens,
      0 AS events, 0 AS content_events, 0 AS content_reads, 0 AS done_marks, 500 AS bytes_in, 192 AS flags
    FROM charged`)
}

const [mode, text] = process.argv.slice(2)
if (mode === 'audit-only') {
  const store = await openStore(text!)
  const began = performance.now()
  const report = await audit(store, {
    contract: defaultContract,
    auditId: 'bench',
    auditedAt: new Date(0),
  })
  const seconds = (performance.now() - began) / 1000
  store.close()
  const failed = report.findings.filter(({ verdict }) => verdict.verdict === 'fail')
  const peakMiB = process.resourceUsage().maxRSS / 1024
  process.stdout.write(
    `${JSON.stringify({ seconds, peakMiB, failed: failed.map(({ rule }) => rule) })}\n`,
  )
} else {
  const sizes = mode === undefined ? [100_000, 1_000_000] : [Number(mode)]
  process.stdout.write('attempts    seconds   peak MiB   failed\n')
  for (const size of sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
    const path = join(folder, 'bench.duckdb')
    const store = await openStore(path)
    await fill(store, size)
    store.close()
    const made = spawnSync(process.execPath, [import.meta.filename, 'audit-only', path], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    rmSync(folder, { recursive: true })
    const { seconds, peakMiB, failed } = JSON.parse(made.stdout)
    process.stdout.write(
      `${String(size).padEnd(12)}${seconds.toFixed(1).padStart(7)}   ${peakMiB.toFixed(0).padStart(8)}   ${failed.join(' ') || 'none'}\n`,
    )
  }
}
