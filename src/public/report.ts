/** `assay/report`: pages, summaries and comparisons. A function loads its code when it is first called. */
import type { Contract } from '../contract/contract.ts'
import type { Comparison, Side } from '../report/compare/compare.ts'
import type { GateResult } from '../report/compare/gate.ts'
import type { Report, ReportOptions } from '../report/page.ts'
import type { RunSummary } from '../report/summary/shape.ts'
import type { Store } from '../store/session/open.ts'
import type { Work } from '../user/work.ts'

export type { Comparison, Side } from '../report/compare/compare.ts'
export type { Gate, GateResult } from '../report/compare/gate.ts'
export type { Report, ReportOptions, UsageScopeOptions } from '../report/page.ts'
export type { PageName, UsageDimension } from '../report/pages.ts'
export type { RunSummary } from '../report/summary/shape.ts'

/** Defaults: the last run (all usage for the page `usage`), UTC, now, and the contract svc. */
export type PageOptions = Pick<ReportOptions, 'page'> &
  Partial<Omit<ReportOptions, 'store' | 'page'>>

/**
 * Makes a page: the answer first, then its evidence.
 *
 * @throws UserError for unusable runs, zones and chart files
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { html } = await makeReport(store, { page: 'usage', timeZone: 'Asia/Kolkata' })
 * console.log(html.length)
 * store.close()
 */
export async function makeReport(store: Store, options: PageOptions): Promise<Report> {
  return (await import('../report/page.ts')).makeReport(await complete(store, options))
}

/**
 * Makes a page, and writes it to the file `out`.
 *
 * @throws UserError as `makeReport` does, and if the file cannot be written
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * await writeReport(store, { page: 'launch', out: 'launch.html' })
 * store.close()
 */
export async function writeReport(
  store: Store,
  options: PageOptions & { readonly out: string },
): Promise<Report> {
  const { writeReport } = await import('../report/page.ts')
  return writeReport({ ...(await complete(store, options)), out: options.out })
}

export interface SummaryOptions extends Pick<Work, 'signal'> {
  readonly runId: string
  /** Prices of the successes. Default: svc */
  readonly contract?: Contract
}

/**
 * All figures of a run, from its rows.
 *
 * @throws UserError when the store holds no such run
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const [last] = await listRuns(store)
 * const { all } = await summarise(store, { runId: last!.runId })
 * console.log(all.metrics.service.p95)
 * store.close()
 */
export async function summarise(
  store: Store,
  { runId, contract, ...work }: SummaryOptions,
): Promise<RunSummary> {
  const { summarise } = await import('../report/summary/summarise.ts')
  return summarise(store, runId, contract ?? (await svc()), work)
}

export interface CompareOptions extends Work {
  /** Prices of the successes. Default: svc */
  readonly contract?: Contract
}

/**
 * Compares two runs, each difference with its interval.
 *
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
  { contract, ...work }: CompareOptions = {},
): Promise<Comparison> {
  const { compareRuns } = await import('../report/compare/compare.ts')
  return compareRuns(a, b, contract ?? (await svc()), work)
}

/**
 * Judges a comparison by gates, such as `chat.ttft.p95 > +10%`: conditions under which it fails. Only `passed` is a pass.
 *
 * @throws UserError with the grammar, for a gate that is not one
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const [after, before] = await listRuns(store)
 * const comparison = await compareRuns(
 *   { store, runId: before!.runId },
 *   { store, runId: after!.runId },
 * )
 * const gates = await judgeGates(comparison, ['p95 > +10%', 'errors > +1%'])
 * process.exitCode = gates.every(({ result }) => result === 'passed') ? 0 : 1
 * console.log(await comparisonMarkdown(comparison, gates))
 * store.close()
 */
export async function judgeGates(
  comparison: Comparison,
  gates: readonly string[],
): Promise<readonly GateResult[]> {
  const { judgeGate, parseGate } = await import('../report/compare/gate.ts')
  return gates.map(parseGate).map((gate) => judgeGate(comparison, gate))
}

/**
 * A comparison as Markdown, for a pull request: its gates first, then the clear differences.
 *
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const [after, before] = await listRuns(store)
 * const comparison = await compareRuns(
 *   { store, runId: before!.runId },
 *   { store, runId: after!.runId },
 * )
 * console.log(await comparisonMarkdown(comparison))
 * store.close()
 */
export async function comparisonMarkdown(
  comparison: Comparison,
  gates: readonly GateResult[] = [],
): Promise<string> {
  return (await import('../report/compare/formats.ts')).markdownComparison(comparison, gates)
}

const svc = async () => (await import('../contract/default.ts')).defaultContract

const complete = async (store: Store, options: PageOptions): Promise<ReportOptions> => ({
  ...options,
  // After the options, because one that is given as undefined is not given.
  contract: options.contract ?? (await svc()),
  runIds: options.runIds ?? [],
  timeZone: options.timeZone ?? 'UTC',
  nowUs: options.nowUs ?? Date.now() * 1000,
  store,
})
