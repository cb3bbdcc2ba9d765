/** `assay/run`: load against a service, and what this machine can send. A function loads its code when it is first called. */
import type { JudgeOptions } from '../run/crew/merge.ts'
import type { PairOptions } from '../run/pair.ts'
import type { RepeatOptions } from '../run/repeats.ts'
import type { RunResult, RunSettings } from '../run/run.ts'
import type { CalibrateOptions, Calibration } from '../run/self-test/calibrate.ts'
import type { Scenario, TargetName } from '../scenario/scenario.ts'
import type { Store } from '../store/session/open.ts'

export type { AttemptCounts } from '../run/count/attempt-counts.ts'
export type { Progress } from '../run/count/progress.ts'
export type { Counted } from '../run/count/tally.ts'
export type { JudgeOptions } from '../run/crew/merge.ts'
export type { Shard } from '../run/crew/shard.ts'
export type { StopReason } from '../run/crew/stop-conditions.ts'
export type { Team } from '../run/crew/team.ts'
export type { RunTest } from '../run/judge/run-test.ts'
export type { ThresholdResult } from '../run/judge/thresholds/check.ts'
export type { RunVerdict } from '../run/judge/verdict.ts'
export type { PairOptions } from '../run/pair.ts'
export type { RepeatOptions } from '../run/repeats.ts'
export type { RunResult, RunSettings } from '../run/run.ts'
export type { SweepResult } from '../run/search/sweep-run.ts'
export type { CalibrateOptions, Calibration } from '../run/self-test/calibrate.ts'
export type { TargetName } from '../scenario/scenario.ts'

export interface RunOptions extends RunSettings {
  readonly scenario: Scenario
}

/**
 * Runs a scenario against a service, and stores its rows and its verdict. `onAttempts` gets rows as they are stored.
 *
 * @param store open, which the run shares, or a path, which it opens and closes
 * @throws UserError for a key, prompt file or URL that is missing, or shards of a team that are
 * @throws UserError if nothing listens at the base URL, or the store cannot be opened
 * @example
 * const service = await startService()
 * const { baseUrl, keys } = service
 * const scenario = scenarioFrom({
 *   ...{ name: 'gate', question: 'Is a chat answered?', model: 'svc-k2' },
 *   steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
 *   phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 10 }],
 * })
 * const { counts } = await run('assay.duckdb', {
 *   ...{ scenario, baseUrl, keys: { default: keys[1]!.apiKey } },
 *   onAttempts: (rows) => console.log(rows.map(({ status }) => status)),
 * })
 * console.log(counts)
 * await service.close()
 */
export async function run(
  store: Store | string,
  { scenario, ...settings }: RunOptions,
): Promise<RunResult> {
  const { placeOf, run } = await import('../run/run.ts')
  return run(scenario, { ...settings, ...placeOf(store) })
}

/**
 * Sends each request of a scenario to both of its `targets`, at nearly the same time and in random order: two runs in two
 * stores, which `compareRuns` compares by pairs.
 *
 * @throws UserError for a scenario without targets, or a key of a target that is not set
 * @example
 * const [one, two] = [await startService(), await startService()]
 * const scenario = scenarioFrom({
 *   ...{ name: 'pair', question: 'Is b slower?', model: 'svc-k2' },
 *   targets: {
 *     a: { base_url: one.baseUrl, key_env: 'KEY_OF_A' },
 *     b: { base_url: two.baseUrl, key_env: 'KEY_OF_B' },
 *   },
 *   steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
 *   phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 10 }],
 * })
 * const [a, b] = [one, two].map(({ keys }) => keys[1]!.apiKey)
 * const stores = { a: 'of-a.duckdb', b: 'of-b.duckdb' }
 * const results = await runPair(stores, {
 *   ...{ scenario, pair: 'nightly' },
 *   contracts: { a: defaultContract, b: defaultContract },
 *   environment: { KEY_OF_A: a, KEY_OF_B: b },
 * })
 * console.log(results.a.verdict, results.b.verdict)
 * await one.close()
 * await two.close()
 */
export async function runPair(
  stores: Readonly<Record<TargetName, Store | string>>,
  options: PairOptions,
): Promise<Readonly<Record<TargetName, RunResult>>> {
  return (await import('../run/pair.ts')).runPair(stores, options)
}

/**
 * Runs a scenario several times, one after the other, each with the next seed. `compareRuns` takes all repeats of both sides if
 * each has at least three.
 *
 * @throws UserError as `run` does
 * @example
 * const service = await startService()
 * const scenario = scenarioFrom({
 *   ...{ name: 'repeats', question: 'How far do runs differ?', model: 'svc-k2' },
 *   steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
 *   phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 5 }],
 * })
 * const results = await runRepeats('repeats.duckdb', {
 *   ...{ scenario, name: 'before', count: 3, baseUrl: service.baseUrl },
 *   keys: { default: service.keys[1]!.apiKey },
 *   beforeEach: (number) => console.log(`run ${number}`),
 * })
 * console.log(results.map(({ runId }) => runId))
 * await service.close()
 */
export async function runRepeats(
  store: Store | string,
  options: RepeatOptions,
): Promise<readonly RunResult[]> {
  return (await import('../run/repeats.ts')).runRepeats(store, options)
}

/**
 * Measures how much this machine can send, against a server that answers at once. The store keeps the figures.
 *
 * @throws the signal's reason if it is aborted
 * @example
 * const { plainPerS } = await calibrate('machine.duckdb', { threads: 1, seconds: 1 })
 * console.log(plainPerS)
 */
export async function calibrate(
  store: Store | string,
  options: CalibrateOptions,
): Promise<Calibration> {
  return (await import('../run/self-test/calibrate.ts')).calibrate(store, options)
}

/**
 * Judges a run whose parts are in one store, after `mergeParts`.
 *
 * @throws UserError when the store holds no parts of the run; the signal's reason, once it is aborted
 * @example
 * const store = await openStore('merged.duckdb')
 * const runId = await mergeParts(store, { paths: ['shard-0.duckdb', 'shard-1.duckdb'] })
 * const { verdict } = await judgeParts(store, { runId })
 * console.log(verdict.verdict)
 * store.close()
 */
export async function judgeParts(store: Store, options: JudgeOptions): Promise<RunResult> {
  return (await import('../run/crew/merge.ts')).judgeParts(store, options)
}
