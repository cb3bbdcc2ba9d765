/**
 * The public API: the commands as functions, in the order of use.
 *
 *     const scenario = await loadScenario('scenarios/quick.yaml')
 *     const { runId } = await run(scenario, { baseUrl, dbPath: 'assay.duckdb' })
 *     const store = await openStore('assay.duckdb')
 *     const { findings } = await audit(store, { contract: defaultContract, runIds: [runId] })
 *     await writeReport({ store, page: 'launch', runIds: [runId], out: 'launch.html', … })
 *
 * Long work takes an `AbortSignal` as `signal` and reports its progress to `onProgress`.
 */
export { type AttemptRow, attemptColumns } from './attempt/columns.ts'
export { type Effect, type End, effectOf, type Outcome } from './attempt/outcome.ts'
export { type AuditOptions, type AuditReport, audit, isBroken } from './audit/audit.ts'
export type { Evidence, Rule } from './audit/rule.ts'
export type { Finding, Verdict, Witness } from './audit/verdict.ts'
export { type SendOnceOptions, sendOnce } from './client/send-once.ts'
export type { Contract } from './contract/contract.ts'
export { defaultContract } from './contract/default.ts'
export { Fleet, type FleetOptions, joinFleet } from './fleet/fleet.ts'
export { type RunSeen, type RunWatch, type WatchRunOptions, watchRun } from './fleet/watch.ts'
export { type ProbeOptions, type ProbeResult, probe } from './probe/probe.ts'
export { type Poll, type WatchOptions, watch } from './probe/watch.ts'
export { type Comparison, compareRuns } from './report/compare/compare.ts'
export { makeReport, type ReportOptions, writeReport } from './report/page.ts'
export type { PageName } from './report/pages.ts'
export type { RunSummary } from './report/summary/shape.ts'
export { summarise } from './report/summary/summarise.ts'
export { readUsage } from './report/usage/read.ts'
export type { UsageOptions, UsagePage } from './report/usage/shape.ts'
export { type CalibrateOptions, type Calibration, calibrate } from './run/calibrate.ts'
export { type RunOptions, type RunResult, run } from './run/run.ts'
export type { Team } from './run/team.ts'
export { defineScenario, type ScenarioInput } from './scenario/define.ts'
export { ScenarioError } from './scenario/faults.ts'
export { loadScenario, parseScenario } from './scenario/parse.ts'
export type { Scenario } from './scenario/scenario.ts'
export type { ServiceOptions } from './service/options.ts'
export { type RunningService, startService } from './service/start.ts'
export { exportTable } from './store/export.ts'
export { type FileImport, type FileImported, importFile } from './store/import/import-file.ts'
export { type Mapping, parseMapping } from './store/import/mapping.ts'
export { openStore, type Store } from './store/open.ts'
export { type ListedRun, listRuns } from './store/runs.ts'
export { UserError, type UserErrorCode } from './user/user-error.ts'
export type { Work, WorkProgress } from './user/work.ts'
