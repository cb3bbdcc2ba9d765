import { join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AuditReport } from '../../audit/audit.ts'
import { audit, isBroken } from '../../public/audit.ts'
import { defaultContract } from '../../public/contract.ts'
import { summarise, writeReport } from '../../public/report.ts'
import { run } from '../../public/run.ts'
import { loadScenario } from '../../public/scenario.ts'
import { startService } from '../../public/service.ts'
import { openStore } from '../../public/store.ts'
import type { Percentile } from '../../report/summary/distribution-shape.ts'
import type { SummaryGroup } from '../../report/summary/group-shape.ts'
import type { RunResult } from '../../run/run.ts'
import { shellWord } from '../../user/shell-word.ts'
import type { Options } from '../commands/demo.ts'
import { duration } from '../terminal/duration.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, storeWords } from '../terminal/next.ts'
import { table } from '../terminal/table.ts'
import { demoMonth } from '../usage/demo-month.ts'
import { LiveView } from './live-view.ts'

const scenarioPath = fileURLToPath(new URL('../../../scenarios/demo.yaml', import.meta.url))

/** A minute of the service takes six seconds, so that several rate-limit windows pass. */
const timeScale = 10

/** One account in each band; the first can pay for 40 requests and is then refused. */
const accounts = [
  { name: 'band-1', balance: 40 },
  { name: 'band-2', balance: 180 },
  { name: 'band-3', balance: 5_000 },
  { name: 'band-4', balance: 50_000 },
]

export async function demoAction({ db, out }: Options): Promise<void> {
  const service = await startService({
    accounts,
    timeScale,
    seed: 7,
    // In the service's own time; in ours, 60 ms to the first token and 8 ms between tokens.
    shape: {
      timeToFirstUs: { kind: 'lognormal', median: 60_000 * timeScale, sigma: 0.4 },
      betweenTokensUs: { kind: 'lognormal', median: 8_000 * timeScale, sigma: 0.3 },
    },
  })
  const live = new LiveView()
  let result: RunResult
  try {
    result = await run(db, {
      scenario: await loadScenario(scenarioPath),
      baseUrl: service.baseUrl,
      timeScale,
      keys: Object.fromEntries(service.keys.map(({ name, apiKey }) => [name, apiKey])),
      onProgress: (progress) => live.show(progress),
    })
  } finally {
    live.clear()
    await service.close()
  }
  const store = await openStore(db)
  try {
    const report = await audit(store, {
      contract: defaultContract,
      runIds: [result.runId],
      auditId: result.runId,
      auditedAt: new Date(),
    })
    await writeReport(store, { page: 'run', runIds: [result.runId], out })
    const statuses = await store.rows<Made['statuses'][number]>(
      `SELECT status, count(*)::INTEGER AS attempts FROM attempts
       WHERE run_id = $1 GROUP BY status ORDER BY status`,
      [result.runId],
    )
    const { steps } = await summarise(store, { runId: result.runId })
    const usage = { db: named(db, 'month'), out: named(out, 'usage') }
    await demoMonth(usage)
    process.stdout.write(demoText(result, report, { db, out, statuses, steps, usage }))
    if (report.findings.some(isBroken)) process.exitCode = exit.failed
  } finally {
    store.close()
  }
}

/** `assay-report.html` → `assay-report-usage.html` */
function named(path: string, what: string): string {
  const { dir, name, ext } = parse(path)
  return join(dir, `${name}-${what}${ext}`)
}

interface Made {
  readonly db: string
  readonly out: string
  readonly statuses: readonly { readonly status: number | null; readonly attempts: number }[]
  readonly steps: readonly SummaryGroup[]
  /** The month of use. */
  readonly usage: { readonly db: string; readonly out: string }
}

/** A summary that fits a screen, and the next commands. */
function demoText(result: RunResult, report: AuditReport, made: Made): string {
  const count = (verdict: string) =>
    report.findings.filter((finding) => finding.verdict.verdict === verdict).length
  const failed = report.findings.filter(isBroken)
  const time = ({ us, mark }: Percentile) =>
    us === null
      ? '-'
      : mark === 'too-few'
        ? 'few'
        : `${mark === 'at-least' ? '>' : ''}${duration(us)}`
  return [
    `${result.counts.sent} attempts in ${duration(result.durationUs)}, four accounts, one in each band; a service minute took ${60 / timeScale} s.`,
    '',
    ...table([
      ['status', ...made.statuses.map(({ status }) => String(status ?? 'none'))],
      ['attempts', ...made.statuses.map(({ attempts }) => String(attempts))],
    ]),
    '',
    ...table([
      ['step', 'sent', 'ok', 'service p50', 'p95', 'TTFT p50', 'p95'],
      ...made.steps.map(({ step, counts, metrics: { service, ttft } }) => [
        step ?? '',
        String(counts.sent),
        String(counts.ok),
        ...[service.p50, service.p95, ttft.p50, ttft.p95].map(time),
      ]),
    ]),
    '',
    `Run: ${result.verdict.verdict}${result.verdict.summary === '' ? '' : `. ${result.verdict.summary}`}`,
    `Audit: ${count('fail')} failed, ${count('inconclusive')} inconclusive, ${count('pass')} passed, ${count('not-observed')} not observed`,
    ...failed.map(({ rule, title }) => `  ${rule} failed: ${title}`),
    '',
    `report  ${resolve(made.out)}`,
    `usage   ${resolve(made.usage.out)}  (a month of use, in five seconds)`,
    `store   ${resolve(made.db)}`,
    '',
    nextLine(
      ['audit', ...storeWords(made.db)],
      `judges the run; the month: assay usage --db ${shellWord(made.usage.db)}`,
    ),
  ].join('\n')
}
