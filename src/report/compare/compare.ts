import type { Contract } from '../../contract/contract.ts'
import { generatesSql } from '../../contract/request.ts'
import { percentileOf, samplesNeeded } from '../../measure/percentile.ts'
import type { Store } from '../../store/open.ts'
import { inSession, type Session } from '../../store/session.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { type Random, randomOf } from '../random.ts'
import type { Distribution, Percentile, RunSummary, SummaryGroup } from '../summary/shape.ts'
import { summariseIn } from '../summary/summarise.ts'
import { resampledMean, resampledQuantile, resampledShare } from './bootstrap.ts'
import { readSamples, type SampledMetric, type Samples, sampledMetrics } from './samples.ts'

export interface Side {
  readonly store: Store
  readonly runId: string
}

export type Statistic = 'p50' | 'p90' | 'p95' | 'p99' | 'mean' | 'rate' | 'share' | 'each'

export type Mark = Percentile['mark']

/** A figure of both runs, and its change. */
export interface Difference {
  /** Null for all steps together. */
  readonly step: string | null
  readonly metric: SampledMetric | 'throughput' | 'errors' | 'tokens' | 'credits'
  readonly statistic: Statistic
  readonly unit: 'us' | 'per s' | 'share' | 'credits'
  readonly a: number | null
  readonly b: number | null
  /** Reliability of `a` and `b`, as in the summary of each run. */
  readonly marks: readonly [Mark, Mark]
  readonly na: number
  readonly nb: number
  /** b / a - 1; for shares b - a, in points. Null if either figure is missing. */
  readonly change: number | null
  /** 95 % bootstrap interval of the change; null with too few samples. */
  readonly interval: readonly [number, number] | null
  /** The direction of a change beyond chance. `unclear` if the interval includes 0, or there is none. */
  readonly verdict: 'better' | 'worse' | 'unclear'
}

export interface Comparison {
  readonly a: RunSummary
  readonly b: RunSummary
  /** Other differences between the runs than the one to compare. */
  readonly warnings: readonly string[]
  readonly differences: readonly Difference[]
}

const draws = 1_000
const statistics = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
] as const
/** Least duration for a bootstrap of a rate, seconds. */
const fewestSeconds = 5

/**
 * Compares two runs: latency, throughput, errors and credits, each difference with a bootstrap interval. Latencies are
 * those of the summary: successes, with timeouts at their deadline.
 *
 * @param seed of the bootstrap, which makes comparisons repeatable
 */
export async function compareRuns(
  a: Side,
  b: Side,
  contract: Contract,
  seed: number,
  work: Work = {},
): Promise<Comparison> {
  return inSession(a.store, work, (left) =>
    inSession(b.store, work, (right) =>
      compareBoth(
        { session: left, runId: a.runId },
        { session: right, runId: b.runId },
        contract,
        seed,
        work,
      ),
    ),
  )
}

interface OpenSide {
  readonly session: Session
  readonly runId: string
}

async function compareBoth(
  a: OpenSide,
  b: OpenSide,
  contract: Contract,
  seed: number,
  work: Work,
): Promise<Comparison> {
  const [runA, runB] = [
    await summariseIn(a.session, a.runId, contract),
    await summariseIn(b.session, b.runId, contract),
  ]
  const random = randomOf(seed)
  const shared = runA.steps
    .map((step) => step.step)
    .filter((step) => runB.steps.some((other) => other.step === step))
  const groups =
    shared.length > 1 || runA.steps.length !== runB.steps.length ? [null, ...shared] : [null]
  const differences: Difference[] = []
  for (const [at, step] of groups.entries()) {
    beginPart(work, step ?? 'all steps', at, groups.length)
    const [left, right] = [
      await readSamples(a.session, a.runId, step, runA.part),
      await readSamples(b.session, b.runId, step, runB.part),
    ]
    differences.push(
      ...groupDifferences(
        step,
        { group: groupOf(runA, step), ...left },
        { group: groupOf(runB, step), ...right },
        random,
      ),
    )
    if (step === null) differences.push(await creditsDifference(a, b, runA, runB))
  }
  return { a: runA, b: runB, warnings: warningsOf(runA, runB), differences }
}

/** One side of a group: its figures, and their samples for the intervals. */
interface Half extends Samples {
  readonly group: SummaryGroup
}

const groupOf = ({ all, steps }: RunSummary, step: string | null): SummaryGroup =>
  steps.find((group) => group.step === step) ?? all

function groupDifferences(
  step: string | null,
  a: Half,
  b: Half,
  random: Random,
): readonly Difference[] {
  const both = (of: (group: SummaryGroup) => Figure) => [of(a.group), of(b.group)] as const
  const differences: Difference[] = []
  for (const metric of sampledMetrics) {
    const [left, right] = [a.metrics[metric], b.metrics[metric]]
    if (left.length === 0 && right.length === 0) continue
    for (const [statistic, p] of statistics) {
      const enough = Math.min(left.length, right.length) >= samplesNeeded(p)
      differences.push(
        relative(
          { step, metric, statistic, unit: 'us', na: left.length, nb: right.length },
          both(({ metrics }) => percentileFigure(metrics[metric][statistic])),
          enough
            ? () => resampledQuantile(right, p, random) / resampledQuantile(left, p, random) - 1
            : null,
        ),
      )
    }
    differences.push(
      relative(
        { step, metric, statistic: 'mean', unit: 'us', na: left.length, nb: right.length },
        both(({ metrics }) => meanFigure(metrics[metric])),
        Math.min(left.length, right.length) >= 30
          ? () => resampledMean(right, random) / resampledMean(left, random) - 1
          : null,
      ),
    )
  }
  const seconds = Math.min(a.okBySecond.length, b.okBySecond.length)
  for (const [metric, of, figure] of [
    ['throughput', 'okBySecond', 'okPerS'],
    ['tokens', 'tokensBySecond', 'completionTokensPerS'],
  ] as const) {
    const [left, right] = [a[of], b[of]]
    if (a.group[figure] === null && b.group[figure] === null) continue
    differences.push(
      relative(
        { step, metric, statistic: 'rate', unit: 'per s', na: left.length, nb: right.length },
        both((group) => ({ value: group[figure], mark: 'exact' })),
        // Whole seconds are resampled, because requests within a second are not independent.
        seconds >= fewestSeconds
          ? () => resampledMean(right, random) / resampledMean(left, random) - 1
          : null,
      ),
    )
  }
  differences.push(errorDifference(step, a, b, random))
  return differences
}

function errorDifference(step: string | null, a: Half, b: Half, random: Random): Difference {
  const [left, right] = [a.group.counts, b.group.counts]
  const share = ({ failed, sent }: typeof left) => (sent === 0 ? null : failed / sent)
  const [shareA, shareB] = [share(left), share(right)]
  const change = shareA === null || shareB === null ? null : shareB - shareA
  const interval =
    Math.min(left.sent, right.sent) < 30
      ? null
      : intervalOf(
          () =>
            resampledShare(right.failed, right.sent, random) -
            resampledShare(left.failed, left.sent, random),
        )
  return {
    step,
    metric: 'errors',
    statistic: 'share',
    unit: 'share',
    a: shareA,
    b: shareB,
    marks: ['exact', 'exact'],
    na: left.sent,
    nb: right.sent,
    change,
    interval,
    verdict: verdictOf(interval, 'errors'),
  }
}

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
    a: left.credits,
    b: right.credits,
    marks: ['exact', 'exact'],
    na: left.n,
    nb: right.n,
    change,
    interval: change === null ? null : [change, change],
    verdict: change === null || change === 0 ? 'unclear' : change < 0 ? 'better' : 'worse',
  }
}

type Head = Pick<Difference, 'step' | 'metric' | 'statistic' | 'unit' | 'na' | 'nb'>

/** A figure of one run, in the unit of its difference. */
interface Figure {
  readonly value: number | null
  readonly mark: Mark
}

const percentileFigure = ({ us, mark }: Percentile): Figure => ({ value: us, mark })

/** A mean that includes timeouts can only be larger. */
const meanFigure = ({ meanUs, censored }: Distribution): Figure => ({
  value: meanUs,
  mark: censored > 0 ? 'at-least' : 'exact',
})

function relative(
  head: Head,
  [left, right]: readonly [Figure, Figure],
  draw: (() => number) | null,
): Difference {
  const [a, b] = [left.value, right.value]
  const change = a === null || b === null || a === 0 ? null : b / a - 1
  const interval = change === null || draw === null ? null : intervalOf(draw)
  const marks = [left.mark, right.mark] as const
  const verdict = verdictOf(interval, head.metric)
  // If `a` is "at least", the true change is smaller; if `b` is, it is larger.
  const open = verdict === 'worse' ? 0 : 1
  return {
    ...head,
    ...{ a, b, marks, change, interval },
    verdict: marks[open] === 'at-least' ? 'unclear' : verdict,
  }
}

/** Whether more of it is better. */
export const isGain = (metric: Difference['metric']) =>
  metric === 'throughput' || metric === 'tokens'

function verdictOf(
  interval: readonly [number, number] | null,
  metric: Difference['metric'],
): Difference['verdict'] {
  if (interval === null || (interval[0] <= 0 && interval[1] >= 0)) return 'unclear'
  return interval[1] > 0 === isGain(metric) ? 'better' : 'worse'
}

/** Null if a draw is no number: of so few seconds with an answer, a draw may hold none, and nothing is a share of 0. */
function intervalOf(draw: () => number): readonly [number, number] | null {
  const drawn = Float64Array.from({ length: draws }, draw).sort()
  if (!drawn.every(Number.isFinite)) return null
  return [percentileOf(drawn, 0.025)!, percentileOf(drawn, 0.975)!]
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
    if (summary.verdict === 'invalid' || summary.verdict === 'degraded') {
      warnings.push(`run ${name} is ${summary.verdict}: its latencies may come from the client`)
    }
    if (summary.run.kind === 'import') {
      warnings.push(`run ${name} was recorded by another tool, whose definitions may differ`)
    }
  }
  return warnings
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
