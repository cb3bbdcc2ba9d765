import { availableParallelism, loadavg } from 'node:os'
import type { Contract } from '../../contract/contract.ts'
import { usualLimitUs } from '../../measure/limit.ts'
import { namesFromSend } from '../../measure/measures.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { readSteadiness } from '../../store/read/steadiness.ts'
import type { RunEnd } from '../../store/runs/run-end.ts'
import { endShard } from '../../store/runs/run-shards.ts'
import {
  type Ceiling,
  endRun,
  latestCeiling,
  type RunStart,
  withoutCredentials,
} from '../../store/runs/runs.ts'
import type { Session } from '../../store/session/session.ts'
import { smallest } from '../../user/extremes.ts'
import { clientGaps, inFlightFigures, mediansOf } from '../count/client-figures.ts'
import { type RunFigures, runFigures } from '../count/run-figures.ts'
import type { Coordinator } from '../crew/coordinator.ts'
import { unsharded } from '../crew/shard.ts'
import { neverReached } from '../crew/stop-conditions.ts'
import type { CrewedScenario } from '../crew/threads.ts'
import { runBilling } from '../money/run-money.ts'
import { arrivalsInTime } from '../plan/arrivals-in-time.ts'
import { crowdOf } from '../plan/crowd.ts'
import type { PlacedRun, RunResult } from '../run.ts'
import { settleTrials, withCachedShares } from '../search/settle-trials.ts'
import type { SweepResult } from '../search/sweep-run.ts'
import { firstRefusal } from '../start/first-requests.ts'
import { gapLimitUs } from './client-tests.ts'
import { levelChange } from './level-test.ts'
import { readStreams } from './stream-tests.ts'
import { checkThresholds, undecided } from './thresholds/check.ts'
import { judge, type RunFacts } from './verdict.ts'
import { cutWarmUp } from './warm-up.ts'

/** A run whose requests have all ended. */
export interface Ended {
  readonly dbPath: string
  readonly scenario: CrewedScenario
  readonly options: PlacedRun
  readonly contract: Contract
  readonly start: RunStart
  readonly coordinator: Coordinator
  readonly sweeps: readonly SweepResult[]
  /** What is wrong with the page of the balance, if that stopped the run. */
  readonly pageRefusal: string | null
}

/** Reads the rows back, judges the run, and stores its end. */
export async function conclude(session: Session, ended: Ended): Promise<RunResult> {
  const { scenario, options, contract, start, coordinator } = ended
  const { runId } = start
  const { tally } = coordinator
  const counts = tally.counts()
  const { stopReason } = coordinator
  const stopped =
    stopReason !== 'interrupted' && stopReason !== 'first-request' && neverReached(tally)
      ? 'unreachable'
      : stopReason
  await settleTrials(session, runId, coordinator, ended.sweeps)
  // One shard has too few requests to tell; the merge looks at all.
  const cut = isPart(options) || scenario.warmUp !== 'auto' ? null : await cutWarmUp(session, runId)
  await session.takeAttemptsAtHand({ values: true })
  const figures = await runFigures(session, runId, contract)
  const sweeps = await withCachedShares(session, runId, ended.sweeps)
  let planned = 0
  let inTime = 0
  for (const phase of coordinator.phases) {
    if (crowdOf(phase.load) !== null || phase.part !== 'steady') continue
    const counted = await arrivalsInTime(session, runId, phase)
    planned += counted.planned
    inTime += counted.inTime
  }
  const steadiness = isPart(options) ? null : await readSteadiness(session, runId)
  const unsteady = levelChange(steadiness?.change ?? null, start.startedAtUs / 1000)
  const warmUp = cut ?? (steadiness && { kind: 'kept', coldStart: steadiness.coldStart })
  const medians = mediansOf(scenario, coordinator.phases, tally)
  const verdict = judge({
    ...countedFacts(ended),
    rows: figures.rows,
    lag: figures.lag,
    medians,
    claimUs: claimOf(scenario),
    plannedArrivals: planned,
    arrivedInTime: inTime,
    budgetSpent: stopped === 'budget',
    gaps: await clientGaps(session, runId, gapLimitUs(medians)),
    inFlight: await inFlightFigures(session, runId),
    streams: await readStreams(session, runId),
    unsteady: unsteady?.text ?? null,
    warmUp,
    // Windows has no load average.
    loadPerCore: process.platform === 'win32' ? null : loadavg()[0]! / availableParallelism(),
    fewestSamples: figures.fewestSamples,
    ceilingShare: shareOfCeiling(
      await latestCeiling(session, start.machineJson, scenario.threads),
      figures,
    ),
  })
  const thresholds = await checkThresholds(
    session,
    isPart(options) ? [] : scenario.thresholds,
    { runId, contract, objectives: scenario.objectives },
    unsteady,
  )
  // An account that other machines also used cannot be judged by one part.
  const parts = isPart(options) ? { parts: { of: options.shard!.of, present: 1 } } : {}
  const end: RunEnd = {
    endedUs: figures.lastUs,
    attemptCountsJson: JSON.stringify({ ...counts, ...parts }),
    verdict: verdict.verdict,
    verdictJson: JSON.stringify({ ...verdict, thresholds, sweeps, stopped }),
  }
  await endRun(session, runId, end)
  if (isPart(options))
    await endShard(session, runId, {
      ...end,
      attemptCountsJson: JSON.stringify(counts),
      clockErrorUs: options.team?.clockErrorUs ?? null,
    })
  return {
    ...identityOf(ended),
    durationUs: figures.lastUs,
    counts,
    creditsByContract: isInCredits(ended) ? figures.creditsByContract : null,
    thresholds,
    sweeps,
    verdict,
    stopped,
    refusal:
      stopped === 'first-request'
        ? (ended.pageRefusal ??
          (await firstRefusal(session, runId, start.baseUrl, ended.scenario.steps)))
        : null,
  }
}

const isInCredits = ({ scenario, contract }: Ended) =>
  runBilling(contract, scenario).kind === 'credits'

/** The result from counters alone, for a run whose store can no longer be read or written. */
export function concludeWithoutStore(ended: Ended, why: string): RunResult {
  const { scenario, options, coordinator } = ended
  const { tally } = coordinator
  const counts = tally.counts()
  return {
    ...identityOf(ended),
    durationUs: coordinator.now(),
    counts,
    creditsByContract: isInCredits(ended) ? tally.credits() : null,
    thresholds: isPart(options) ? [] : scenario.thresholds.map(undecided),
    sweeps: ended.sweeps,
    verdict: judge({
      ...countedFacts(ended),
      storeFailure: why,
      ...{ rows: null, medians: [], plannedArrivals: 0, arrivedInTime: 0 },
      budgetSpent: coordinator.stopReason === 'budget',
      ...{ lag: null, claimUs: null, gaps: null, inFlight: null, streams: null, unsteady: null },
      ...{ warmUp: null, loadPerCore: null, fewestSamples: null, ceilingShare: null },
    }),
    stopped: 'store',
    refusal: null,
  }
}

/** The tightest time that the run judges, by a threshold or as the objective of a search; null for none. */
function claimOf({ thresholds, objectives, phases }: Scenario): number | null {
  const searches = phases.some(({ load }) => load.kind === 'sweep')
  const { ttftUs, serviceUs, responseUs } = objectives
  const bounds = [
    ...thresholds
      .filter(({ metric }) => namesFromSend.includes(metric))
      .map(({ bound, ownLimit }) => usualLimitUs(ownLimit?.limit ?? bound)),
    ...(searches
      ? [ttftUs, serviceUs, responseUs].filter((limit) => limit !== null).map(usualLimitUs)
      : []),
  ]
  return bounds.length === 0 ? null : smallest(bounds)
}

/** Facts that the threads of the run counted. */
function countedFacts({ scenario, coordinator }: Ended) {
  const { tally, figures } = coordinator
  const { handedOver, recorded, threads, memory, deepestQueue } = figures
  const { storeFailure, bodiesGivenUp, strays } = figures
  return {
    counts: tally.counts(),
    ...{ handedOver, recorded, threads, memory, strays, deepestQueue, storeFailure, bodiesGivenUp },
    pacing: scenario.pacing,
    localLimits: tally.localLimits(),
  }
}

function identityOf({ scenario, dbPath, start }: Ended) {
  return {
    runId: start.runId,
    scenario: scenario.name,
    question: scenario.question,
    seed: start.seed,
    baseUrl: withoutCredentials(start.baseUrl),
    dbPath,
  }
}

/** The sum of two shares of the machine's capacity in the busiest steady phase: those of requests and of events. */
function shareOfCeiling(
  ceiling: Ceiling | null,
  { busiestPerS, busiestEventsPerS }: RunFigures,
): RunFacts['ceilingShare'] {
  if (ceiling === null) return null
  if (busiestPerS === null || busiestEventsPerS === null) return 'too few'
  return busiestPerS / ceiling.plainPerS + busiestEventsPerS / ceiling.eventsPerS
}

/** Whether this is one shard of a run. What only the whole run can show, such as thresholds, waits until its stores are merged. */
const isPart = ({ shard }: PlacedRun) => (shard ?? unsharded).of > 1
