/**
 * The public API: the commands as functions. Each part is also an entry of its own, such as `assay/audit`.
 *
 *     const store = await openStore('assay.duckdb')
 *     const scenario = await loadScenario('scenarios/quick.yaml')
 *     const { runId } = await run(store, { scenario, baseUrl })
 *     const { findings } = await audit(store, { runIds: [runId] })
 *     await writeReport(store, { page: 'launch', runIds: [runId], out: 'launch.html' })
 *
 * Long work takes an `AbortSignal` as `signal` and reports its progress to `onProgress`. Operations on one store may
 * run at once: each has a session of its own.
 */
export * from './public/audit.ts'
export * from './public/contract.ts'
export * from './public/fleet.ts'
export * from './public/import.ts'
export * from './public/portal.ts'
export * from './public/probe.ts'
export * from './public/report.ts'
export * from './public/run.ts'
export * from './public/scenario.ts'
export * from './public/service.ts'
export * from './public/store.ts'
export * from './public/usage.ts'
