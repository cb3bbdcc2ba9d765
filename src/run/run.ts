import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { baseUrlSays, isBaseUrl, shownBaseUrl } from '../contract/base-url.ts'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { openStore, type Store } from '../store/open.ts'
import {
  type Ceiling,
  endRun,
  latestCeiling,
  type RunStart,
  withoutCredentials,
} from '../store/runs.ts'
import { arrivalsInTime } from './arrivals-in-time.ts'
import { monotonicNs } from './clock.ts'
import { Coordinator } from './coordinator.ts'
import { RunError } from './errors.ts'
import { resolveKeys } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { phaseLoads } from './loads.ts'
import { assayVersion, machineJson } from './machine.ts'
import { reach } from './preflight.ts'
import { promptPools } from './prompts.ts'
import { runFigures } from './run-figures.ts'
import { neverReached, type StopReason } from './stop-conditions.ts'
import type { SweepResult } from './sweep-run.ts'
import type { Progress } from './tally.ts'
import { checkThreshold, type ThresholdResult } from './thresholds.ts'
import { judge, type RunVerdict } from './verdict.ts'

export interface RunOptions {
  /** `run` unless given. */
  readonly kind?: 'run' | 'calibrate'
  /** Scheme, host, port and base path; the scenario's own unless given. */
  readonly baseUrl?: string
  readonly dbPath: string
  /** Keys by their name in the scenario, instead of where it says they come from. */
  readonly keys?: Readonly<Record<string, string>>
  readonly contract?: Contract
  readonly seed?: number
  /** Seconds of the service's time in one of ours; recorded, and used by rules. */
  readonly timeScale?: number
  readonly onProgress?: (progress: Progress) => void
  /** The first abort drains; a second, by `stopNow`, leaves what is in flight. */
  readonly signal?: AbortSignal
  readonly stopNow?: AbortSignal
}

/** How a run ended and what it says of itself; the figures of its steps are read by `summarise`. */
export interface RunResult {
  readonly runId: string
  readonly scenario: string
  readonly question: string
  readonly seed: number
  readonly baseUrl: string
  readonly dbPath: string
  readonly durationUs: number
  readonly ledger: Ledger
  readonly creditsByContract: number
  readonly thresholds: readonly ThresholdResult[]
  readonly sweeps: readonly SweepResult[]
  readonly verdict: RunVerdict
  /** Why it ended before its plan did; null when it did not. */
  readonly stopped: StopReason | null
}

/**
 * Runs a scenario against a service: rows into the store, and what it says of itself.
 *
 * @throws RunError for a key, prompt file or URL that is missing
 * @throws TargetError when nothing answers at the base URL
 * @throws StoreError when the store cannot be opened
 */
export async function run(scenario: Scenario, options: RunOptions): Promise<RunResult> {
  const contract = options.contract ?? defaultContract
  const baseUrl = (options.baseUrl ?? scenario.baseUrl)?.replace(/\/$/, '')
  if (baseUrl === undefined || !isBaseUrl(baseUrl)) {
    throw new RunError(
      `expected as base URL ${baseUrlSays}; came ${baseUrl === undefined ? 'none' : shownBaseUrl(baseUrl)}. Give --base-url, or base_url in the scenario.`,
    )
  }
  const seed = options.seed ?? scenario.seed
  const keys = resolveKeys(scenario, options.keys)
  const prompts = promptPools(scenario, seed)
  const loads = phaseLoads(scenario, baseUrl)
  const ca = authoritiesOf(scenario)
  const proxy = proxyOf(scenario)
  if (proxy === null) await reach(baseUrl, ca)

  const startedAtUs = Date.now() * 1000
  const zeroNs = monotonicNs()
  const start: RunStart = {
    runId: runIdOf(startedAtUs),
    kind: options.kind ?? 'run',
    scenario: scenario.name,
    scenarioJson: JSON.stringify(scenario),
    seed,
    baseUrl,
    contract: contract.name,
    startedAtUs,
    timeScale: options.timeScale ?? 1,
    assayVersion: assayVersion(),
    machineJson: machineJson(),
  }
  const coordinator = new Coordinator({
    scenario,
    contract,
    run: start,
    zeroNs,
    seed,
    baseUrl,
    dbPath: options.dbPath,
    keys,
    prompts,
    ca,
    proxy,
    onProgress: options.onProgress ?? (() => {}),
  })
  const drain = () => coordinator.stop('interrupted')
  const leave = () => coordinator.stop('interrupted', true)
  let sweeps: readonly SweepResult[]
  try {
    await coordinator.start()
    options.signal?.addEventListener('abort', drain)
    options.stopNow?.addEventListener('abort', leave)
    if (options.signal?.aborted) drain()
    await coordinator.runPhases(scenario.phases, loads)
    sweeps = loads.sweeps
    await coordinator.finish()
  } catch (error) {
    await coordinator.terminate()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', drain)
    options.stopNow?.removeEventListener('abort', leave)
  }

  const store = await openStore(options.dbPath)
  try {
    return await conclude(store, { scenario, options, contract, start, coordinator, sweeps })
  } finally {
    store.close()
  }
}

function authoritiesOf({ caFile }: Scenario): string | null {
  if (caFile === null) return null
  let pem: string
  try {
    pem = readFileSync(caFile, 'utf8')
  } catch {
    throw new RunError(
      `The authorities come from the file ${caFile}, which cannot be read. ca_file starts from the folder of the scenario.`,
    )
  }
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  throw new RunError(
    `The authorities come from the file ${caFile}, which holds no certificate. ca_file names a PEM file, with -----BEGIN CERTIFICATE----- in it.`,
  )
}

function proxyOf({ proxyEnv }: Scenario): string | null {
  if (proxyEnv === null) return null
  const proxy = process.env[proxyEnv] ?? ''
  if (URL.canParse(proxy)) return proxy
  throw new RunError(
    `The proxy comes from the variable ${proxyEnv}, which holds no URL. Set it, as http://127.0.0.1:3128.`,
  )
}

interface Ended {
  readonly scenario: Scenario
  readonly options: RunOptions
  readonly contract: Contract
  readonly start: RunStart
  readonly coordinator: Coordinator
  readonly sweeps: readonly SweepResult[]
}

/** Reads the rows back, judges them, and enters the end of the run. */
async function conclude(store: Store, ended: Ended): Promise<RunResult> {
  const { scenario, contract, start, coordinator } = ended
  const { runId } = start
  const { tally } = coordinator
  const ledger = tally.ledger()
  const { stopReason } = coordinator
  const stopped = stopReason !== 'interrupted' && neverReached(tally) ? 'unreachable' : stopReason
  const figures = await runFigures(store, runId, contract)
  let planned = 0
  let inTime = 0
  for (const phase of coordinator.phases) {
    if (phase.load.kind === 'concurrency' || phase.part !== 'steady') continue
    const counted = await arrivalsInTime(store, runId, phase)
    planned += counted.planned
    inTime += counted.inTime
  }
  const seconds = figures.lastUs / 1e6
  const verdict = judge({
    ledger,
    rows: figures.rows,
    handedOver: coordinator.handedOver,
    recorded: coordinator.recorded,
    lag: figures.lag,
    medianResponseUs: figures.medianResponseUs,
    plannedArrivals: planned,
    arrivedInTime: inTime,
    budgetSpent: stopped === 'budget',
    threads: coordinator.threads,
    pacing: scenario.pacing,
    deepestQueue: coordinator.deepestQueue,
    meanInFlight: seconds > 0 ? tally.flightSeconds() / seconds : null,
    lambdaW: seconds > 0 ? figures.flightSeconds / seconds : null,
    fewestSamples: figures.fewestSamples,
    ceilingShare: shareOfCeiling(await latestCeiling(store, start.machineJson, scenario.threads), {
      perS: figures.busiestPerS,
      eventsPerS: seconds > 0 ? figures.events / seconds : 0,
    }),
  })
  const thresholds: ThresholdResult[] = []
  for (const threshold of scenario.thresholds) {
    thresholds.push(
      await checkThreshold(store, threshold, {
        runId,
        contract,
        objectives: scenario.objectives,
        gapStatistic: ({ step, phase, statistic }) => {
          const counts = tally.counts(
            'itl',
            (run, index) =>
              (phase === null ? run.part === 'steady' : run.name === phase) &&
              (step === null || scenario.steps[index]!.name === step),
          )
          return { value: counts.statistic(statistic), samples: counts.samples }
        },
      }),
    )
  }
  await endRun(store, runId, {
    endedUs: figures.lastUs,
    ledgerJson: JSON.stringify(ledger),
    verdict: verdict.verdict,
    verdictJson: JSON.stringify({
      ...verdict,
      thresholds,
      sweeps: ended.sweeps,
      stopped,
    }),
  })
  return {
    runId,
    scenario: scenario.name,
    question: scenario.question,
    seed: start.seed,
    baseUrl: withoutCredentials(start.baseUrl),
    dbPath: ended.options.dbPath,
    durationUs: figures.lastUs,
    ledger,
    creditsByContract: figures.creditsByContract,
    thresholds,
    sweeps: ended.sweeps,
    verdict,
    stopped,
  }
}

/** Requests and events each take their share of what the machine can do. */
function shareOfCeiling(
  ceiling: Ceiling | null,
  offered: { readonly perS: number; readonly eventsPerS: number },
): number | null {
  if (ceiling === null) return null
  return offered.perS / ceiling.plainPerS + offered.eventsPerS / ceiling.eventsPerS
}

/** Sorts by time, reads well, and hardly ever meets another. */
function runIdOf(startedAtUs: number): string {
  const stamp = new Date(startedAtUs / 1000).toISOString()
  const date = stamp.slice(0, 10).replaceAll('-', '')
  const time = stamp.slice(11, 19).replaceAll(':', '')
  return `${date}-${time}-${randomBytes(2).toString('hex')}`
}
