import type { Contract } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { readSteadiness } from '../../store/read/steadiness.ts'
import { validities } from '../../store/runs/run-end.ts'
import { otherTries, type RunShard, readShards } from '../../store/runs/run-shards.ts'
import { endRun } from '../../store/runs/runs.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import { largest } from '../../user/extremes.ts'
import { userError } from '../../user/user-error.ts'
import type { Work } from '../../user/work.ts'
import { type AttemptCounts, addCounts, countIssues, noCounts } from '../count/attempt-counts.ts'
import { runFigures } from '../count/run-figures.ts'
import { type LevelChange, levelChange, levelTests } from '../judge/level-test.ts'
import { heldIf, type RunTest, testResults } from '../judge/run-test.ts'
import { checkThresholds } from '../judge/thresholds/check.ts'
import type { RunVerdict } from '../judge/verdict.ts'
import { cutWarmUp, type WarmUp, warmUpTests } from '../judge/warm-up.ts'
import type { RunResult } from '../run.ts'

export interface JudgeOptions extends Pick<Work, 'signal'> {
  readonly runId: string
  /** Default: svc */
  readonly contract?: Contract
  /** Greatest difference of the machines' clocks, microseconds. Null or absent: what they measured. */
  readonly clockErrorUs?: number | null
}

/** The verdict of a shard on itself; null if it was killed. */
type ShardEnd = (RunVerdict & Pick<RunResult, 'stopped' | 'sweeps'>) | null

/**
 * Judges a run whose parts are in one store: counts are summed, thresholds cover all rows, and the verdict
 * is not better than that of the worst shard.
 *
 * @throws UserError when the store holds no parts of the run; the signal's reason, once it is aborted
 */
export function judgeParts(store: Store, options: JudgeOptions): Promise<RunResult> {
  const { runId, contract = defaultContract, clockErrorUs = null } = options
  return inSession(store, options, (session) => judgeIn(session, runId, contract, clockErrorUs))
}

async function judgeIn(
  session: Session,
  runId: string,
  contract: Contract,
  toldErrorUs: number | null,
): Promise<RunResult> {
  const shards = await readShards(session, runId)
  if (shards.length === 0) {
    throw userError.store(
      `The store ${session.path} holds no part of a run ${runId}. Merge the stores of its shards into it first (assay merge, mergeParts).`,
    )
  }
  const clockErrorUs = toldErrorUs ?? measuredErrorUs(shards)
  const [run] = await session.rows<{
    scenario: string
    seed: number
    baseUrl: string
    startedAtMs: number
  }>(
    `SELECT scenario_json AS scenario, seed, base_url AS "baseUrl", epoch_ms(started_at)::DOUBLE AS "startedAtMs"
     FROM runs WHERE run_id = $1`,
    [runId],
  )
  const scenario = JSON.parse(run!.scenario) as Scenario
  const ends = shards.map(({ verdictJson }) => JSON.parse(verdictJson ?? 'null') as ShardEnd)
  const counts = shards.reduce(
    (sum, { attemptCountsJson }) =>
      addCounts(sum, JSON.parse(attemptCountsJson ?? 'null') ?? noCounts),
    noCounts,
  )
  const cut = scenario.warmUp === 'auto' ? await cutWarmUp(session, runId) : null
  const figures = await runFigures(session, runId, contract)
  const tries = await judgeTries(session, runId, contract, clockErrorUs)
  const { change, coldStart } = await readSteadiness(session, runId)
  const unsteady = levelChange(change, run!.startedAtMs)
  const warmUp = cut ?? ({ kind: 'kept', coldStart } as const)
  const verdict = verdictOf(shards, ends, tries, counts, figures.rows, { unsteady, warmUp })
  const scope = { runId, contract, objectives: scenario.objectives }
  const thresholds = await checkThresholds(session, scenario.thresholds, scope, unsteady)
  const stopped = ends.find((each) => each !== null && each.stopped !== null)?.stopped ?? null
  // The shards shared all counts, so each has the same sweeps.
  const sweeps = ends.find((each) => each !== null)?.sweeps ?? []
  // The requests in flight of a killed shard have no rows, so it does not count as present.
  const ended = ends.filter((each) => each !== null)
  const parts = { of: shards[0]!.shards, present: ended.length }
  const machine = JSON.parse(shards[0]!.machineJson)
  await endRun(session, runId, {
    endedUs: figures.lastUs,
    attemptCountsJson: JSON.stringify({ ...counts, parts, clockErrorUs }),
    verdict: verdict.verdict,
    verdictJson: JSON.stringify({ ...verdict, thresholds, sweeps, stopped }),
  })
  await session.execute('UPDATE runs SET machine_json = $2 WHERE run_id = $1', [
    runId,
    JSON.stringify({ ...machine, machines: shards.length }),
  ])
  return {
    runId,
    scenario: scenario.name,
    question: scenario.question,
    seed: run!.seed,
    baseUrl: run!.baseUrl,
    dbPath: session.path,
    durationUs: figures.lastUs,
    counts,
    creditsByContract: tries.reduce((sum, { credits }) => sum + credits, figures.creditsByContract),
    thresholds,
    sweeps,
    verdict,
    stopped,
    refusal: null,
  }
}

/** The sum of the two greatest differences from shard 0; null if a shard did not measure its own. */
function measuredErrorUs(shards: readonly RunShard[]): number | null {
  const known = shards.flatMap(({ clockErrorUs }) => (clockErrorUs === null ? [] : [clockErrorUs]))
  if (known.length < shards.length) return null
  const [most = 0, next = 0] = known.sort((a, b) => b - a)
  return most + next
}

/** A further try of a shard, whose rows do not count. */
interface OtherTry {
  readonly runId: string
  readonly shard: number
  readonly credits: number
}

/** The credits of the other tries. With a known clock error, audits can use their rows with those of the run. */
async function judgeTries(
  session: Session,
  runId: string,
  contract: Contract,
  clockErrorUs: number | null,
): Promise<readonly OtherTry[]> {
  const tries: OtherTry[] = []
  for (const id of await otherTries(session, runId)) {
    const { creditsByContract } = await runFigures(session, id, contract)
    const [own] = await readShards(session, id)
    tries.push({ runId: id, shard: own!.shard, credits: creditsByContract })
    if (clockErrorUs === null || own!.attemptCountsJson === null) continue
    const counts = { ...JSON.parse(own!.attemptCountsJson), clockErrorUs }
    await session.execute('UPDATE runs SET attempt_counts_json = $2 WHERE run_id = $1', [
      id,
      JSON.stringify(counts),
    ])
  }
  return tries
}

function verdictOf(
  shards: readonly RunShard[],
  ends: readonly ShardEnd[],
  tries: readonly OtherTry[],
  counts: AttemptCounts,
  rows: AttemptCounts,
  { unsteady, warmUp }: { readonly unsteady: LevelChange | null; readonly warmUp: WarmUp },
): RunVerdict {
  const of = shards[0]!.shards
  const killed = shards.filter((_, at) => ends[at] === null).map(({ shard }) => shard)
  const isWhole = shards.length === of && killed.length === 0
  const parts = heldIf(isWhole, 'failed', {
    name: 'shards',
    figure: `${shards.length} of ${of} present${killed.length === 0 ? '' : `; ${killed.join(', ')} did not end`}`,
    bound: 'every shard, to its end',
    remedy: 'Requests that the service received are missing: run again.',
  })
  const again: RunTest[] = tries.map((each) => ({
    name: `another try of shard ${each.shard}`,
    result: 'degraded',
    figure: `${each.credits} credits more, kept as ${each.runId}`,
    bound: 'each shard runs once',
    remedy: 'Its load came on top of the plan: let no scheduler repeat a shard.',
  }))
  const issues = killed.length > 0 ? [] : countIssues(counts, rows)
  const added = heldIf(issues.length === 0, 'failed', {
    name: 'merged counts',
    figure: issues.join('; ') || `planned ${counts.planned} in ${shards.length} shards`,
    bound: 'they add up',
    remedy: 'A bug in Assay; please report it with the stores.',
  })
  const level = levelTests(unsteady?.text ?? null)
  const tests = [
    ...[parts, ...again, added, ...level, ...warmUpTests(warmUp)],
    ...worstTests(shards, ends),
  ]
  const failed = tests.some(({ result }) => result === 'failed')
  const worst = largest(
    ends.map((each) => validities.indexOf(each?.verdict ?? 'invalid')),
    tries.length > 0 || level.length > 0 ? 1 : 0,
  )
  const verdict = failed ? 'invalid' : validities[worst]!
  const rowsHold = isWhole && issues.length === 0 && ends.every((each) => each?.rowsHold === true)
  const text = rowsHold
    ? 'Not to be used for latency. Every row is there, so billing and rate limits can be judged.'
    : 'Rows are missing, so not every request to the accounts is known.'
  return { verdict, tests, rowsHold, summary: verdict === 'invalid' ? text : '' }
}

/** Each test of the shard with the worst result, and the number of shards with that result. */
function worstTests(shards: readonly RunShard[], ends: readonly ShardEnd[]): readonly RunTest[] {
  const all = shards.flatMap(({ shard }, at) =>
    (ends[at]?.tests ?? []).map((test) => ({ test, shard })),
  )
  return [...Map.groupBy(all, ({ test }) => test.name).values()].map((each) => {
    const worst = largest(each.map(({ test }) => testResults.indexOf(test.result)))
    const so = each.filter(({ test }) => test.result === testResults[worst])
    const { test, shard } = so[0]!
    const where = `shard ${shard}; ${test.result} in ${so.length} of ${shards.length}`
    return { ...test, figure: `${test.figure} (${where})` }
  })
}
