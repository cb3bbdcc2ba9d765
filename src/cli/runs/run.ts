import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { sourceWords } from '../../exporter/find.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { run } from '../../public/run.ts'
import { loadScenario } from '../../public/scenario.ts'
import type { RunSummary } from '../../report/summary/shape.ts'
import { summariseIn } from '../../report/summary/summarise.ts'
import { terminalFigures } from '../../report/summary/terminal.ts'
import { readTimeShape, type TimeShape, timeShapeText } from '../../report/summary/time-bars.ts'
import type { Progress } from '../../run/count/progress.ts'
import type { Shard } from '../../run/crew/shard.ts'
import { threadsOf } from '../../run/crew/threads.ts'
import { readyExpectations } from '../../run/expect/ready.ts'
import { runBilling } from '../../run/money/run-money.ts'
import { phaseLoads } from '../../run/plan/loads.ts'
import { planOf } from '../../run/plan/plan.ts'
import type { RunResult, RunSettings } from '../../run/run.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { scenarioFiles } from '../../scenario/scenario-files.ts'
import { undecidable } from '../../scenario/undecidable.ts'
import { mustStandApart, type NamedFile } from '../../store/files/files-apart.ts'
import { writeOutput } from '../../store/files/output.ts'
import type { Session } from '../../store/session/session.ts'
import { given } from '../../user/given.ts'
import type { Options } from '../commands/run.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, sameCommandWithout, storeWords } from '../terminal/next.ts'
import { positiveOf, wholeNumberOf } from '../terminal/numbers.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { LiveView, lineOf } from './live-view.ts'
import { otlpTo } from './otlp.ts'
import { refuseOfOneTarget } from './refuse-options.ts'
import { repeatsAsked } from './repeats-asked.ts'
import { judgementText } from './run-judgement.ts'
import { runJunit } from './run-junit.ts'
import { mustBound, overridden } from './run-overrides.ts'
import { planText, unpricedSteps } from './run-plan.ts'
import { joinWaitMsOf, mustHaveOneClock, runIdOf, shardOf, startAtUsOf } from './shard.ts'
import { mustMaySpend } from './spending.ts'
import { baseUrlOf, targetContracts } from './target.ts'
import { uploadTo } from './upload.ts'

export async function runAction(path: string, options: Options): Promise<void> {
  const contract = loadContract(options.contract)
  const scenario = overridden(await loadScenario(path, contract), options)
  mustStandApart(filesOf(scenario, options))
  const seed = options.seed === undefined ? scenario.seed : wholeNumberOf('--seed', options.seed)
  const { targets } = scenario
  if (targets !== undefined) refuseOfOneTarget(options)
  const contracts = targets === undefined ? null : targetContracts(targets, options.contract)
  mustBound(options.maxCost, contracts === null ? [contract] : [contracts.a, contracts.b], scenario)
  if (targets !== undefined && !options.dryRun) {
    for (const sentence of undecidable(scenario)) process.stderr.write(`${sentence}\n`)
    const { runPairAction } = await import('./run-pair.ts')
    return runPairAction({ ...scenario, targets }, options, seed)
  }
  const count = repeatsAsked(options)
  if (count !== null && !options.dryRun) {
    for (const sentence of undecidable(scenario)) process.stderr.write(`${sentence}\n`)
    const { runRepeatsAction } = await import('./run-repeats.ts')
    return runRepeatsAction(scenario, options, { contract, seed, count })
  }
  const shard = shardOf(options.shard, process.env)
  if (options.dryRun) {
    await readyExpectations(scenario)
    const priced = contracts?.a ?? contract
    const plan = planOf(scenario, priced, seed, shard, options.join !== undefined)
    const target = options.baseUrl ?? scenario.baseUrl
    const threads = threadsOf(scenario, phaseLoads(scenario), shard, target)
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ scenario, seed, shard, threads, plan }, null, 2)}\n`
        : `${planText(scenario, plan, shard, threads, runBilling(priced, scenario), unpricedSteps(priced, scenario))}${nextLine(sameCommandWithout('--dry-run'), 'sends it')}`,
    )
    if (undecidable(scenario).length > 0) process.exitCode = exit.usage
    return
  }
  for (const sentence of undecidable(scenario)) process.stderr.write(`${sentence}\n`)
  mustHaveOneClock(shard, options)
  const runId = runIdOf(options.runId)
  const startAtUs = startAtUsOf(options.startAt, Date.now())
  const baseUrl = baseUrlOf(options.baseUrl ?? scenario.baseUrl ?? undefined, contract)
  const timeScale = positiveOf('--time-scale', options.timeScale)
  const isAgreed = options.yes === true
  await mustMaySpend({ scenario, contracts: [contract], seed, baseUrl, isAgreed })
  const upload = await uploadTo(options.upload)
  const sendTelemetry = await otlpTo(options)
  const fleet = await fleetOf(options, shard)
  const result = await runAndPrint(
    scenario,
    {
      baseUrl,
      seed,
      timeScale,
      dbPath: options.db,
      contract,
      firstRequests: options.firstRequests,
      shard,
      ...given({ runId, startAtUs }),
    },
    options.json === true,
    { ...(options.live === undefined ? {} : { livePort: options.live }), fleet },
  )
  if (options.junit !== undefined) writeOutput(options.junit, runJunit(result, new Date()))
  await sendTelemetry(options.db, result.runId)
  await upload(options.db, ...(options.junit === undefined ? [] : [options.junit]))
  if (options.json !== true && result.refusal === null) {
    process.stdout.write(afterRun(result, shard, options))
  }
}

/** The next command after a run. */
function afterRun({ runId, verdict, counts }: RunResult, shard: Shard, options: Options): string {
  const { db, contract } = options
  if (shard.of > 1) {
    const merge = ['merge', db, '--db', `${runId}.duckdb`]
    return nextLine(merge, 'with the stores of the other shards; judges the run')
  }
  if (counts.planned === 0)
    return nextLine([...sameCommandWithout('--dry-run'), '--dry-run'], 'prints the plan')
  if (verdict.verdict === 'invalid') return nextLine(['doctor'], 'checks this machine')
  const audit = ['audit', runId, ...storeWords(db), ...contractWords(contract)]
  return nextLine(audit, 'judges it by every rule')
}

/** The files that a run writes, and those that its scenario names. */
function filesOf(scenario: Scenario, { db, junit }: Options): readonly NamedFile[] {
  return [
    { name: '--db', path: db, role: 'store' },
    ...(junit === undefined ? [] : [{ name: '--junit', path: junit, role: 'output' as const }]),
    ...scenarioFiles(scenario).map((path) => ({
      name: 'a file of the scenario',
      path,
      role: 'input' as const,
    })),
  ]
}

/** Runs with the live view, prints the result, and sets the exit code. */
export async function runAndPrint(
  scenario: Scenario,
  { dbPath, ...options }: RunSettings & { readonly dbPath: string; readonly contract: Contract },
  json: boolean,
  {
    livePort,
    fleet = null,
  }: { readonly livePort?: string | true; readonly fleet?: Fleet | null } = {},
): Promise<RunResult> {
  const live = new LiveView()
  // Libraries of the page are loaded only if there is one.
  const page = livePort === undefined ? null : await import('../live/live-run.ts')
  const opened = await page?.openLiveRun(livePort!, scenario, options.baseUrl ?? '')
  const [drain, leave] = [new AbortController(), new AbortController()]
  const onInterrupt = () => {
    if (drain.signal.aborted) leave.abort()
    else {
      drain.abort()
      live.say('Draining; press Ctrl-C again to abort the requests in flight.')
    }
  }
  const ignoreSignals = onStopSignal(onInterrupt)
  let last: Progress | null = null
  let shown: Shown = nothing
  try {
    const result = await run(dbPath, {
      ...options,
      scenario,
      onMetrics: ({ sources, missing }) => {
        for (const source of sources) live.say(`metrics: ${sourceWords(source)}`)
        for (const { url, reason } of missing) live.say(`metrics: none at ${url}: ${reason}`)
      },
      onProgress: (progress, counted) => {
        last = progress
        live.show(progress)
        opened?.show(progress, counted)
        fleet?.show(progress, counted)
      },
      progressEveryMs: opened === undefined && fleet === null ? live.everyMs : 0,
      onJudged: async (result, store) => {
        await fleet?.close(endOf(result))
        if (result.refusal === null || json) {
          shown = await readShown(store, result, options.contract, json)
        }
      },
      ...(fleet === null ? {} : { team: fleet }),
      signal: drain.signal,
      stopNow: leave.signal,
    })
    live.clear()
    await fleet?.close(endOf(result))
    process.exitCode = (options.shard?.of ?? 1) > 1 ? exitOfShard(result) : exitOf(result)
    if (result.refusal !== null && !json) {
      process.stderr.write(
        `${result.refusal}\nThe load was not sent; the request is in run ${result.runId}.\n`,
      )
      return result
    }
    const { summary, times } = shown
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...result, summary }, null, 2)}\n`
        : coloured(
            fitted(
              `${scenario.question}\n${summary === null ? countedText(result, last) : `${terminalFigures(summary)}${timeShapeText(times)}`}${judgementText(result)}`,
              process.stdout,
            ),
          ),
    )
    ignoreSignals()
    await opened?.end(summary === null ? null : result, options.contract)
    return result
  } finally {
    ignoreSignals()
    opened?.close()
    await fleet?.close(null)
  }
}

async function fleetOf(options: Options, shard: Shard): Promise<Fleet | null> {
  const { join, runId = '', joinTimeout } = options
  if (join === undefined) return null
  const { joinFleet } = await import('../../fleet/fleet.ts')
  return joinFleet({ address: join, runId, shard, waitMs: joinWaitMsOf(joinTimeout) })
}

/** Replaces the summary if nothing was planned or the store cannot be read. */
function countedText({ counts }: RunResult, last: Progress | null): string {
  if (counts.planned === 0 || last === null) {
    return 'No request was planned: use a longer phase or a higher rate.\n'
  }
  return `Counted while it ran: ${lineOf(last)}\n`
}

const endOf = ({ verdict, stopped }: RunResult) => ({ verdict: verdict.verdict, stopped })

/** What the terminal shows of the rows. Null if nothing was planned, or if the store was lost. */
interface Shown {
  readonly summary: RunSummary | null
  readonly times: TimeShape | null
}

const nothing: Shown = { summary: null, times: null }

async function readShown(
  session: Session,
  { runId, counts, stopped }: RunResult,
  contract: Contract,
  json: boolean,
): Promise<Shown> {
  if (counts.planned === 0) return nothing
  try {
    const summary = await summariseIn(session, runId, contract)
    return { summary, times: json ? null : await readTimeShape(session, runId) }
  } catch (error) {
    if (stopped !== 'store') throw error
    return nothing
  }
}

/**
 * A shard is judged after the merge. Its exit code only shows whether rows are missing, so that no
 * scheduler repeats a load.
 */
function exitOfShard({ stopped, verdict }: RunResult): number {
  if (stopped === 'interrupted') return exit.interrupted
  return verdict.rowsHold ? exit.ok : exit.invalid
}

/** An interruption comes first; the thresholds of an invalid run do not count. */
export function exitOf(result: RunResult): number {
  if (result.stopped === 'interrupted') return exit.interrupted
  if (
    result.stopped === 'unreachable' ||
    result.stopped === 'first-request' ||
    result.verdict.verdict === 'invalid'
  )
    return exit.invalid
  if (result.stopped === 'threshold' || result.stopped === 'errors') return exit.failed
  const isFound = result.sweeps.every(({ safeRate }) => safeRate.kind === 'held')
  const isMet = result.thresholds.every((threshold) => threshold.result === 'held')
  return isFound && isMet ? exit.ok : exit.failed
}
