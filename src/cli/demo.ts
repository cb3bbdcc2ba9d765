import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { audit, type AuditReport } from '../audit/audit.ts'
import { defaultContract } from '../contract/default.ts'
import { writeReport } from '../report/page.ts'
import { type RunSummary, run } from '../run/run.ts'
import { loadScenario } from '../scenario/parse.ts'
import { startService } from '../service/start.ts'
import { openStore } from '../store/open.ts'

const scenarioPath = fileURLToPath(new URL('../../scenarios/demo.yaml', import.meta.url))

/** A service minute passes in six seconds, so that rate-limit windows come and go. */
const timeScale = 10

/** One account in each band; the first can pay for 40 requests and is refused after that. */
const accounts = [
  { name: 'band-1', balance: 40 },
  { name: 'band-2', balance: 180 },
  { name: 'band-3', balance: 5_000 },
  { name: 'band-4', balance: 50_000 },
]

interface Options {
  readonly db: string
  readonly out: string
}

/** `assay demo`: the whole line on the embedded service. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('the whole line on the embedded service: serve, run, audit, report')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--out <file>', 'the report', 'assay-report.html')
    .action(async ({ db, out }: Options) => {
      const service = await startService({
        accounts,
        timeScale,
        seed: 7,
        shape: {
          timeToFirstUs: { kind: 'lognormal', median: 40_000, sigma: 0.4 },
          betweenTokensUs: { kind: 'lognormal', median: 4_000, sigma: 0.3 },
        },
      })
      let summary: RunSummary
      try {
        summary = await run(await loadScenario(scenarioPath), {
          baseUrl: service.baseUrl,
          dbPath: db,
          timeScale,
          keys: Object.fromEntries(service.keys.map(({ name, apiKey }) => [name, apiKey])),
        })
      } finally {
        await service.close()
      }
      const store = await openStore(db)
      try {
        const report = await audit(store, {
          contract: defaultContract,
          runIds: [summary.runId],
          auditId: summary.runId,
          auditedAt: new Date(),
        })
        await writeReport({ store, page: 'run', runIds: [summary.runId], out })
        print(summary, report, { db, out })
      } finally {
        store.close()
      }
    })
}
