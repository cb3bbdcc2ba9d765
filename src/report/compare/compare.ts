import { z } from 'zod'
import type { Contract } from '../../contract/contract.ts'
import { generatesSql } from '../../contract/request.ts'
import {
  readSteadiness,
  startText,
  type Unsteady,
  unsteadyText,
} from '../../store/read/steadiness.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession } from '../../store/session/session.ts'
import { beginPart, type Work } from '../../user/work.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import type { RunSummary } from '../summary/shape.ts'
import { summariseIn } from '../summary/summarise.ts'
import { type Difference, groupDifferences } from './differences.ts'
import { invalidOf } from './invalid-side.ts'
import type { OpenSide } from './open-side.ts'
import { arePaired, changeOfPairs, readPairs } from './pairs.ts'
import { betweenRepeats, readRepeatedSides, standingRun } from './repeats.ts'
import { readSamples } from './samples.ts'
import { compareSearches, readSearch, type SearchComparison } from './searches.ts'

export interface Side {
  readonly store: Store
  readonly runId: string
  /** What its service promises. Default: the contract of the comparison. */
  readonly contract?: Contract
}

export interface Comparison {
  readonly a: RunSummary
  readonly b: RunSummary
  /** Whether each request was sent to both, so that what both share cancels out. */
  readonly isPaired: boolean
  /** How many runs of each side are compared; null for one of each. */
  readonly repeats: Readonly<Record<'a' | 'b', number>> | null
  /** Where each run changed its level, in words; null for one level, or if it is too short to tell. */
  readonly unsteady: Readonly<Record<'a' | 'b', string | null>>
  /** Where the times of b began to differ otherwise from those of a, in words; null unless they are pairs that show it. */
  readonly unsteadyPairs: string | null
  /** Other differences between the runs than the one to compare. */
  readonly warnings: readonly string[]
  readonly differences: readonly Difference[]
  /** How two searches differ; null unless both runs are searches. */
  readonly searches: SearchComparison | null
}

/**
 * Compares two runs: latency, throughput, errors and credits, each difference with its interval. Latencies are
 * those of the summary: successes, with timeouts at their deadline. If both were repeated, the intervals are those between
 * the repeats.
 */
export async function compareRuns(
  a: Side,
  b: Side,
  contract: Contract,
  work: Work = {},
): Promise<Comparison> {
  return inSession(a.store, work, (left) =>
    inSession(b.store, work, (right) =>
      compareBoth(
        { session: left, runId: a.runId, contract: a.contract ?? contract },
        { session: right, runId: b.runId, contract: b.contract ?? contract },
        work,
      ),
    ),
  )
}

async function compareBoth(givenA: OpenSide, givenB: OpenSide, work: Work): Promise<Comparison> {
  const [a, b] = [await standingRun(givenA), await standingRun(givenB)]
  const [runA, runB] = [
    await summariseIn(a.session, a.runId, a.contract),
    await summariseIn(b.session, b.runId, b.contract),
  ]
  const shared = runA.steps
    .map((step) => step.step)
    .filter((step) => runB.steps.some((other) => other.step === step))
  const groups =
    shared.length > 1 || runA.steps.length !== runB.steps.length ? [null, ...shared] : [null]
  const isPaired = await arePaired(a, b)
  const unpaired: string[] = []
  let changed: Unsteady | null = null
  const differences: Difference[] = []
  for (const [at, step] of groups.entries()) {
    beginPart(work, step ?? 'all steps', at, groups.length)
    const [groupA, groupB] = [
      { runId: a.runId, step, part: runA.part },
      { runId: b.runId, step, part: runB.part },
    ]
    const [left, right] = [
      await readSamples(a.session, groupA),
      await readSamples(b.session, groupB),
    ]
    const times = isPaired
      ? await readPairs(
          { session: a.session, group: groupA },
          { session: b.session, group: groupB },
        )
      : null
    if (isPaired && step === null && Object.values(times!).every((each) => each === null))
      unpaired.push('more than 1 % of the pairs are broken, so they are compared as two runs')
    // The first group is that of all steps.
    if (step === null && times !== null) changed = changeOfPairs(times)
    for (const each of groupDifferences(
      step,
      { group: groupOf(runA, step), ...left },
      { group: groupOf(runB, step), ...right },
      times === null ? null : { times, changedUs: changed?.atUs ?? null },
    ))
      differences.push(each)
    if (step === null) differences.push(await creditsDifference(a, b, runA, runB))
  }
  const unsteadyPairs =
    changed === null ? null : unsteadyText(changed, Date.parse(runA.run.startedAt))
  const { sides: repeated, warnings: ofRepeats } = isPaired
    ? { sides: null, warnings: [] }
    : await readRepeatedSides(a, b)
  const steadiness = {
    a: await steadinessOf(a, repeated?.a ?? [runA]),
    b: await steadinessOf(b, repeated?.b ?? [runB]),
  }
  const unsteady = { a: steadiness.a.unsteady, b: steadiness.b.unsteady }
  const warnings = [
    ...warningsOf(runA, runB),
    ...unpaired,
    ...ofRepeats,
    ...(['a', 'b'] as const).flatMap((name) => {
      const { unsteady, start } = steadiness[name]
      return [
        ...(unsteady === null ? [] : [`run ${name} is not of one level: ${unsteady}`]),
        ...(start === null ? [] : [`run ${name} begins cold: ${start}`]),
      ]
    }),
    ...(unsteadyPairs === null
      ? []
      : [`the targets differ by more than one level: ${unsteadyPairs}`]),
  ]
  const searches = compareSearches(
    await readSearch(a.session, a.runId),
    await readSearch(b.session, b.runId),
  )
  // Times at different rates say nothing of the service; a price does.
  const isComparable = ({ metric }: Difference) =>
    searches === null || searches.isAtOneRate || metric === 'credits'
  const comparison = {
    a: runA,
    b: runB,
    unsteady,
    unsteadyPairs,
    warnings,
    searches,
    isPaired: isPaired && unpaired.length === 0,
    repeats: repeated === null ? null : { a: repeated.a.length, b: repeated.b.length },
    differences: betweenRepeats(differences.filter(isComparable), repeated),
  }
  if (invalidOf(comparison) === null) return comparison
  // No figure of an invalid run tells which is better, on a page, in a terminal or in JSON.
  const open = { verdict: 'unclear', needs: null } as const
  return { ...comparison, differences: differences.map((each) => ({ ...each, ...open })) }
}

const groupOf = ({ all, steps }: RunSummary, step: string | null): SummaryGroup =>
  steps.find((group) => group.step === step) ?? all

/** Credits for each success. A price is not a sample, so any difference counts. */
async function creditsDifference(
  a: OpenSide,
  b: OpenSide,
  runA: RunSummary,
  runB: RunSummary,
): Promise<Difference> {
  const each = async ({ session, runId }: OpenSide, { credits }: RunSummary) => {
    const [row] = await session.rows<{ n: number }>(
      `SELECT count(*) AS n FROM attempts
       WHERE run_id = $1 AND outcome = 'ok' AND ${generatesSql}`,
      [runId],
    )
    const n = row!.n
    return { n, credits: credits.spent === null || n === 0 ? null : credits.spent / n }
  }
  const [left, right] = [await each(a, runA), await each(b, runB)]
  const change =
    left.credits === null || right.credits === null ? null : right.credits / left.credits - 1
  return {
    step: null,
    metric: 'credits',
    statistic: 'each',
    unit: 'credits',
    isPaired: false,
    sides: null,
    repeats: null,
    a: left.credits,
    b: right.credits,
    marks: ['exact', 'exact'],
    na: left.n,
    nb: right.n,
    worth: null,
    change,
    interval: change === null ? null : [change, change],
    needs: null,
    verdict: change === null || change === 0 ? 'unclear' : change < 0 ? 'better' : 'worse',
  }
}

/** Of the runs of a side, where the first that has more than one level changed it, and how the first that begins cold does. */
async function steadinessOf({ session }: OpenSide, runs: readonly RunSummary[]) {
  let unsteady: string | null = null
  let start: string | null = null
  for (const { run } of runs) {
    const { change, coldStart } = await readSteadiness(session, run.runId)
    if (change !== null) unsteady ??= unsteadyText(change, Date.parse(run.startedAt))
    if (coldStart !== null) start ??= startText(coldStart)
  }
  return { unsteady, start }
}

function warningsOf(a: RunSummary, b: RunSummary): readonly string[] {
  const warnings: string[] = []
  const differs = (what: string, left: unknown, right: unknown) => {
    if (JSON.stringify(left) !== JSON.stringify(right)) {
      warnings.push(`${what} differs: ${wordOf(left)} and ${wordOf(right)}`)
    }
  }
  differs('the scenario', a.run.scenario, b.run.scenario)
  differs('the seed', a.run.seed, b.run.seed)
  differs('the time scale', a.run.timeScale, b.run.timeScale)
  differs('the version of Assay', a.run.assayVersion, b.run.assayVersion)
  differs('the contract', a.run.contract, b.run.contract)
  for (const name of new Set([...Object.keys(a.run.machine), ...Object.keys(b.run.machine)])) {
    differs(`the machine (${name})`, a.run.machine[name] ?? null, b.run.machine[name] ?? null)
  }
  const namesOf = ({ steps }: RunSummary) => steps.map(({ step }) => step).join(', ')
  differs('the list of steps', namesOf(a), namesOf(b))
  for (const [name, summary] of [
    ['a', a],
    ['b', b],
  ] as const) {
    if (summary.verdict === 'invalid' || isDegradedByClient(summary)) {
      warnings.push(`run ${name} is ${summary.verdict}: its latencies may come from the client`)
    }
    if (summary.run.kind === 'import') {
      warnings.push(`run ${name} was recorded by another tool, whose definitions may differ`)
    }
  }
  return warnings
}

/** Whether it is degraded by more than a change of its level, of which the comparison tells by itself. */
function isDegradedByClient({ verdict, verdictTests }: RunSummary): boolean {
  if (verdict !== 'degraded') return false
  const unheld = verdictTests.flatMap((test) => degradedTest.safeParse(test).data ?? [])
  return unheld.length === 0 || unheld.some(({ name }) => name !== 'level')
}

const degradedTest = z.looseObject({ name: z.string(), result: z.literal('degraded') })

const wordOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)
