import { randomBytes } from 'node:crypto'
import type { AttemptRow } from '../attempt/columns.ts'
import { baseUrlSays, isBaseUrl, serviceUrl, shownBaseUrl } from '../contract/base-url.ts'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { type Found, findSources, type NoSource, type Source } from '../exporter/find.ts'
import { keepMetrics } from '../exporter/keep.ts'
import { type Scraper, startScraper } from '../exporter/scraper.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { Trial } from '../schedule/safe-rate/trial.ts'
import { assayVersion, machineJson } from '../store/runs/machine.ts'
import type { RunStart } from '../store/runs/runs.ts'
import { storeFailure } from '../store/session/errors.ts'
import { openStore, type Store } from '../store/session/open.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { storeFile } from '../store/session/store-file.ts'
import { UserError, userError } from '../user/user-error.ts'
import { monotonicNs } from './clock.ts'
import type { AttemptCounts } from './count/attempt-counts.ts'
import type { Progress } from './count/progress.ts'
import type { Counted } from './count/tally.ts'
import { Coordinator, type CoordinatorOptions } from './crew/coordinator.ts'
import { type Shard, scenarioOf, unsharded } from './crew/shard.ts'
import type { StopReason } from './crew/stop-conditions.ts'
import type { Team } from './crew/team.ts'
import { type CrewedScenario, threadsOf } from './crew/threads.ts'
import { readyExpectations } from './expect/ready.ts'
import { conclude, concludeWithoutStore, type Ended } from './judge/conclude.ts'
import type { ThresholdResult } from './judge/thresholds/check.ts'
import type { RunVerdict } from './judge/verdict.ts'
import { type PhaseLoads, phaseLoads } from './plan/loads.ts'
import { planHash } from './plan/plan-hash.ts'
import { promptPools } from './plan/prompts.ts'
import { storeHere } from './record/recorder-place.ts'
import { isShort } from './record/short-run.ts'
import type { SweepResult } from './search/sweep-run.ts'
import { resolveKeys } from './send/keys.ts'
import { tlsOf } from './send/tls-files.ts'
import { pageIssue } from './start/balance-page.ts'
import { sendFirstRequests } from './start/first-requests.ts'
import { reach } from './start/preflight.ts'
import { proxyOf } from './start/proxy.ts'

/** Where a run records: an open store, which it shares, or a file, which it opens and closes. */
export type RunPlace =
  | { readonly store: Store; readonly dbPath?: never }
  | { readonly dbPath: string; readonly store?: undefined }

export type PlacedRun = RunSettings & RunPlace

export const placeOf = (store: Store | string): RunPlace =>
  typeof store === 'string' ? { dbPath: store } : { store }

export interface RunSettings {
  /** Default: `run`. */
  readonly kind?: 'run' | 'calibrate'
  /** Scheme, host, port and base path. Default: the scenario's. */
  readonly baseUrl?: string
  /** Keys by their name in the scenario, which replace their source. */
  readonly keys?: Readonly<Record<string, string>>
  readonly contract?: Contract
  readonly seed?: number
  /** One part of the run. Default: all. Every part needs the same `runId`, and the same `startAtUs` or a team. */
  readonly shard?: Shard
  /** Default: a new name from the time. */
  readonly runId?: string
  /** Unix microseconds at which the first phase begins, on every machine of the run. Default: at once. */
  readonly startAtUs?: number
  /** The other machines, if they are connected: they agree on the start, and share counts and credits. */
  readonly team?: Team
  /** Seconds of the service's time per second; recorded, and used by rules. */
  readonly timeScale?: number
  /** Sends one request of each kind first, unless the start is given; a permanent refusal ends the run. */
  readonly firstRequests?: boolean
  /** Called with the rows of ended attempts, a batch at a time, at most about a second after their end. */
  readonly onAttempts?: (attempts: readonly AttemptRow[]) => void
  /** Trials of an earlier run of the same search, which goes on from there. */
  readonly earlierTrials?: readonly Trial[]
  /** Called once, before the load, if the scenario has `metrics`. */
  readonly onMetrics?: (found: {
    readonly sources: readonly Source[]
    readonly missing: readonly NoSource[]
  }) => void
  readonly onProgress?: (progress: Progress, counted: Counted) => void
  /** Called with the result while its store is open. Not called if the store was lost. */
  readonly onJudged?: (result: RunResult, session: Session) => Promise<void>
  /** Shortest time between two calls of `onProgress`. Default: one with each report, about once a second. */
  readonly progressEveryMs?: number
  /** `signal` drains the run; `stopNow` also aborts the requests in flight. */
  readonly signal?: AbortSignal
  readonly stopNow?: AbortSignal
}

/** The end and verdict of a run; `summarise` reads the figures of its steps. */
export interface RunResult {
  readonly runId: string
  readonly scenario: string
  readonly question: string
  readonly seed: number
  readonly baseUrl: string
  readonly dbPath: string
  readonly durationUs: number
  readonly counts: AttemptCounts
  /** Null if the contract states no credits for these models. */
  readonly creditsByContract: number | null
  readonly thresholds: readonly ThresholdResult[]
  readonly sweeps: readonly SweepResult[]
  readonly verdict: RunVerdict
  /** Why it ended before its plan; null if it did not. */
  readonly stopped: StopReason | null
  /** The permanent refusal that stopped it, and the remedy; null without one. */
  readonly refusal: string | null
}

/**
 * Runs a scenario against a service, and stores its rows and its verdict.
 *
 * @throws UserError for a key, prompt file or URL that is missing
 * @throws UserError if nothing listens at the base URL
 * @throws UserError if the store cannot be opened
 * @throws UserError if shards of a team are missing, or have another plan
 */
export async function run(whole: Scenario, options: PlacedRun): Promise<RunResult> {
  if (whole.targets !== undefined) {
    throw userError.run(
      'expected a scenario of one service; got one with targets: { a, b }. Use runPair, which sends each request to both.',
    )
  }
  const shard = options.shard ?? unsharded
  const { team = null } = options
  const part = scenarioOf(whole, shard, team !== null)
  const contract = options.contract ?? defaultContract
  const given = options.baseUrl ?? part.baseUrl
  if (given === undefined || given === null || !isBaseUrl(given)) {
    throw userError.run(
      `expected as base URL ${baseUrlSays}; got ${given ? shownBaseUrl(given) : 'none'}. Give --base-url, or base_url in the scenario.`,
    )
  }
  const baseUrl = serviceUrl(given, contract)
  const dbPath = options.store === undefined ? storeFile(options.dbPath) : options.store.path
  const seed = options.seed ?? part.seed
  const loads = phaseLoads(part, options.earlierTrials)
  const threads = threadsOf(part, loads, shard, baseUrl)
  const scenario: CrewedScenario = { ...part, threads }
  await readyExpectations(scenario)
  const keys = resolveKeys(scenario, options.keys)
  const prompts = promptPools(scenario, seed)
  const tls = tlsOf(scenario)
  const proxy = proxyOf(scenario)
  if (proxy === null) await reach(baseUrl, tls, scenario.policy.connectTimeoutUs / 1000)
  // Shards that run together begin soon after they agreed.
  const metrics = await metricsOf(scenario, options, { baseUrl, key: keys[0]?.key ?? null })

  const hash = planHash({ scenario: whole, prompts, seed, contract, shards: shard.of })
  const agreed = (await team?.begin(hash, options.signal)) ?? null
  if (options.startAtUs !== undefined) await untilNear(options.startAtUs, options.signal)
  const nowUs = Date.now() * 1000
  // Microsecond 0 is the agreed instant on every machine, so all rows are on one clock.
  const startedAtUs = agreed?.startedAtUs ?? options.startAtUs ?? nowUs
  const zeroNs = agreed?.zeroNs ?? monotonicNs() + BigInt(Math.round(startedAtUs - nowUs)) * 1000n
  const isTimed = team !== null || options.startAtUs !== undefined
  const start: RunStart = {
    runId: options.runId ?? runIdOf(startedAtUs),
    kind: options.kind ?? 'run',
    scenario: scenario.name,
    scenarioJson: JSON.stringify({ ...whole, threads }),
    seed,
    baseUrl,
    contract: contract.name,
    startedAtUs,
    timeScale: options.timeScale ?? 1,
    assayVersion: assayVersion(),
    machineJson: machineJson(),
    ...(shard.of === 1
      ? {}
      : {
          part: {
            shard: shard.index,
            shards: shard.of,
            attempt: randomBytes(8).toString('hex'),
            planHash: hash,
            beganAtUs: nowUs,
          },
        }),
  }
  const store =
    options.store === undefined
      ? storeHere(dbPath, isShort(scenario, loads))
      : Promise.resolve(options.store)
  const settings: CoordinatorOptions = {
    scenario,
    contract,
    run: start,
    shard,
    team,
    zeroNs,
    seed,
    baseUrl,
    dbPath,
    store,
    onAttempts: options.onAttempts ?? null,
    keys,
    prompts,
    tls,
    proxy,
    onProgress: options.onProgress ?? (() => {}),
    progressEveryMs: options.onProgress === undefined ? Infinity : (options.progressEveryMs ?? 0),
  }
  // A run uses its store between its sessions, too.
  const hold = await options.store?.session()
  try {
    return await carryOut(settings, loads, metrics, isTimed, options)
  } finally {
    hold?.close()
    if (options.store === undefined) await store?.then((opened) => opened.end()).catch(() => {})
  }
}

/** Sends the load, and judges it. */
async function carryOut(
  settings: CoordinatorOptions,
  loads: PhaseLoads,
  metrics: Found | null,
  isTimed: boolean,
  options: PlacedRun,
): Promise<RunResult> {
  const { scenario, contract, run: start, baseUrl, zeroNs, keys, dbPath } = settings
  const coordinator = new Coordinator(settings)
  let scraper: Scraper | null = null
  coordinator.onPhase = (name) => void scraper?.border(name)
  const drain = () => coordinator.stop('interrupted')
  const leave = () => coordinator.stop('interrupted', true)
  let sweeps: readonly SweepResult[]
  let pageRefusal: string | null = null
  try {
    const sources = metrics?.sources ?? []
    const key = keys[0]?.key ?? null
    if (sources.length > 0) {
      scraper = startScraper(sources, { ...scenario.metrics!, zeroNs, key })
    }
    // No request is sent before this look ends, so the counts of the service begin at it.
    await Promise.all([coordinator.start(), scraper?.border('start')])
    options.signal?.addEventListener('abort', drain)
    options.stopNow?.addEventListener('abort', leave)
    if (options.signal?.aborted) drain()
    if (options.firstRequests && !isTimed) {
      const balance = contract.prices?.evidence.balance ?? null
      const { tls, proxy } = settings
      pageRefusal = await sendFirstRequests(coordinator, scenario, loads, balance, async (terms) =>
        proxy === null ? pageIssue(terms, { baseUrl, key, contract, tls }) : null,
      )
    }
    await coordinator.runPhases(scenario.phases, loads, isTimed ? 0 : null)
    sweeps = loads.sweeps
    await coordinator.finish()
  } catch (error) {
    await coordinator.terminate()
    await scraper?.end()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', drain)
    options.stopNow?.removeEventListener('abort', leave)
  }

  void scraper?.border('end')
  const scraped = (await scraper?.end()) ?? null
  const ended: Ended = {
    ...{ dbPath, scenario, options, contract, start, coordinator, sweeps },
    pageRefusal,
  }
  let result: RunResult | null = null
  try {
    const store = await (settings.store ?? openStore(dbPath))
    try {
      return await inSession(store, {}, async (session) => {
        if (scraper !== null && scraped !== null) {
          const { runId } = start
          await keepMetrics(session, runId, scraper.sources, scraper.everyUs, scraped)
        }
        result = await conclude(session, ended)
        await options.onJudged?.(result, session)
        return result
      })
    } finally {
      if (settings.store === null) store.close()
    }
  } catch (error) {
    if (result !== null) throw error
    const why = coordinator.figures.storeFailure ?? storeFailureOf(error)
    if (why === null) throw error
    return concludeWithoutStore(ended, why)
  }
}

/** Looks for the metrics that a scenario asks for. Of several machines, the first one does. */
async function metricsOf(
  { metrics }: Scenario,
  { shard = unsharded, onMetrics }: PlacedRun,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string | null },
): Promise<Found | null> {
  if (metrics === null || shard.index > 0) return null
  const found = await findSources(metrics.from, baseUrl, key)
  onMetrics?.(found)
  return found
}

/** The message of an error of the store; null for any other error. */
function storeFailureOf(error: unknown): string | null {
  if (!(error instanceof UserError)) return storeFailure(error)
  return error.code.startsWith('store') ? error.message : null
}

/** Time for threads to get ready before an agreed start. */
export const readyUs = 5e6

async function untilNear(startAtUs: number, signal: AbortSignal | undefined): Promise<void> {
  const leftMs = (startAtUs - readyUs) / 1000 - Date.now()
  if (leftMs <= 0 || signal?.aborted) return
  await new Promise<void>((resolve) => {
    const leave = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const timer = setTimeout(leave, leftMs)
    signal?.addEventListener('abort', leave)
  })
}

/** A readable id that sorts by time and is very unlikely to repeat. */
function runIdOf(startedAtUs: number): string {
  const stamp = new Date(startedAtUs / 1000).toISOString()
  const date = stamp.slice(0, 10).replaceAll('-', '')
  const time = stamp.slice(11, 19).replaceAll(':', '')
  return `${date}-${time}-${randomBytes(2).toString('hex')}`
}
