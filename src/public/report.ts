/** `assay/report`: pages, summaries and comparisons. A function loads its code when it is first called. */
import type { Contract } from '../contract/contract.ts'
import type { Comparison, Side } from '../report/compare/compare.ts'
import type { Report, ReportOptions } from '../report/page.ts'
import type { RunSummary } from '../report/summary/shape.ts'
import type { Store } from '../store/session/open.ts'
import type { Work } from '../user/work.ts'

export type { Comparison, Side } from '../report/compare/compare.ts'
export type { Report, ReportOptions, UsageScopeOptions } from '../report/page.ts'
export type { PageName, UsageDimension } from '../report/pages.ts'
export type { RunSummary } from '../report/summary/shape.ts'

type Needed = 'store' | 'page'

/** Defaults: the last run (all usage for the page `usage`), UTC, now, and the contract svc. */
export type PageOptions = Pick<ReportOptions, Needed> & Partial<Omit<ReportOptions, Needed>>

/**
 * Makes a page: the answer first, then its evidence.
 *
 * @throws UserError for unusable runs, zones and chart files
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { html } = await makeReport({ store, page: 'usage', timeZone: 'Asia/Kolkata' })
 * console.log(html.length)
 * store.close()
 */
export async function makeReport(options: PageOptions): Promise<Report> {
  return (await import('../report/page.ts')).makeReport(await complete(options))
}

/**
 * Makes a page, and writes it to the file `out`.
 *
 * @throws UserError as `makeReport` does, and if the file cannot be written
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * await writeReport({ store, page: 'launch', out: 'launch.html' })
 * store.close()
 */
export async function writeReport(
  options: PageOptions & { readonly out: string },
): Promise<Report> {
  const { writeReport } = await import('../report/page.ts')
  return writeReport({ ...(await complete(options)), out: options.out })
}

/**
 * All figures of a run, from its rows.
 *
 * @param contract prices of the successes. Default: svc
 * @throws UserError when the store holds no such run
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const [last] = await listRuns(store)
 * const { all } = await summarise(store, last!.runId)
 * console.log(all.metrics.service.p95)
 * store.close()
 */
export async function summarise(
  store: Store,
  runId: string,
  contract?: Contract,
): Promise<RunSummary> {
  const { summarise } = await import('../report/summary/summarise.ts')
  return summarise(store, runId, contract ?? (await svc()))
}

/**
 * Compares two runs, each difference with its interval.
 *
 * @param contract prices of the successes. Default: svc
 * @throws UserError when a store holds no such run
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const [after, before] = await listRuns(store)
 * const { differences } = await compareRuns(
 *   { store, runId: before!.runId },
 *   { store, runId: after!.runId },
 * )
 * console.log(differences.length)
 * store.close()
 */
export async function compareRuns(
  a: Side,
  b: Side,
  contract?: Contract,
  work: Work = {},
): Promise<Comparison> {
  const { compareRuns } = await import('../report/compare/compare.ts')
  return compareRuns(a, b, contract ?? (await svc()), work)
}

const svc = async () => (await import('../contract/default.ts')).defaultContract

const complete = async (options: PageOptions): Promise<ReportOptions> => ({
  ...{ contract: options.contract ?? (await svc()), runIds: [], timeZone: 'UTC' },
  ...{ nowUs: Date.now() * 1000 },
  ...options,
})
