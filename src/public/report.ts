/** `assay/report`: pages, summaries and comparisons. */
import { defaultContract } from '../contract/default.ts'
import * as page from '../report/page.ts'

export { type Comparison, compareRuns, type Side } from '../report/compare/compare.ts'
export type { Report, ReportOptions, UsageScopeOptions } from '../report/page.ts'
export type { PageName, UsageDimension } from '../report/pages.ts'
export type { RunSummary } from '../report/summary/shape.ts'
export { summarise } from '../report/summary/summarise.ts'

type Needed = 'store' | 'page'

/** Defaults: the last run (all usage for the page `usage`), UTC, now, and the contract svc. */
export type PageOptions = Pick<page.ReportOptions, Needed> &
  Partial<Omit<page.ReportOptions, Needed>>

/**
 * Makes a page: the answer first, then its evidence.
 *
 * @throws UserError for unusable runs, zones and chart files
 */
export function makeReport(options: PageOptions): Promise<page.Report> {
  return page.makeReport(complete(options))
}

/** Makes a page, and writes it to the file `out`. @throws UserError as `makeReport` does */
export function writeReport(options: PageOptions & { readonly out: string }): Promise<page.Report> {
  return page.writeReport({ ...complete(options), out: options.out })
}

const complete = (options: PageOptions): page.ReportOptions => ({
  ...{ contract: defaultContract, runIds: [], timeZone: 'UTC', nowUs: Date.now() * 1000 },
  ...options,
})
