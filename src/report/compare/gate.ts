import { type Figure, notACondition, parseCondition, parseFigure } from '../../measure/condition.ts'
import { smallest } from '../../user/extremes.ts'
import { type UserError, userError } from '../../user/user-error.ts'
import { notOneLevel, openText } from '../page-verdict.ts'
import { changeText } from './change-text.ts'
import type { Comparison } from './compare.ts'
import type { Difference } from './differences.ts'
import { invalidOf } from './invalid-side.ts'

/** A figure of a run: `chat.ttft.p95`. */
export interface FigureName {
  readonly text: string
  readonly step: string | null
  readonly metric: Difference['metric']
  readonly statistic: Difference['statistic']
}

/** A condition under which a comparison fails: `chat.ttft.p95 > +10%`. */
export interface Gate extends FigureName {
  readonly operator: '>' | '<'
  /** A share of `a`; points for `errors`. */
  readonly bound: number
}

/** `inconclusive` is not a pass: its exit code is that of `failed`. */
export interface GateResult {
  readonly gate: Gate
  readonly result: 'passed' | 'failed' | 'inconclusive'
  readonly summary: string
}

/** The only statistic of each metric; null for a metric that has all of `statistics`. */
const metrics: Readonly<Record<Difference['metric'], Difference['statistic'] | null>> = {
  service: null,
  response: null,
  ttft: null,
  tpot: null,
  throughput: 'rate',
  errors: 'share',
  tokens: 'rate',
  credits: 'each',
}
const statistics: readonly Difference['statistic'][] = ['p50', 'p90', 'p95', 'p99', 'mean']
const metricNames = Object.keys(metrics) as readonly Difference['metric'][]
const grammar = `with a metric of ${metricNames.join(', ')} and a statistic of ${statistics.join(', ')}`

/**
 * Parses a gate, a condition on a change: `p95 > +10%`, `chat.ttft.p99 > 5%`, `throughput < -5%`. A statistic without a
 * metric is that of the response time.
 *
 * @throws UserError with the grammar
 */
export function parseGate(text: string): Gate {
  const issue = (what: string) =>
    userError.report(
      `--fail-on "${text}": ${what}. Expected [step.][metric.][statistic] > +10%, ${grammar}.`,
    )
  const read = parseCondition(text, metricNames, 'response')
  if (read === notACondition) throw issue('not a condition')
  if (typeof read === 'string') throw issue('it names neither metric nor statistic')
  const { operator } = read
  if (operator !== '<' && operator !== '>') throw issue(`a change has no ${operator}`)
  const bound = /^([+-]?\d+(?:\.\d+)?)\s*%$/.exec(read.bound)
  if (bound === null) throw issue(`${read.bound} is no percentage`)
  return { ...named(read, issue), text: read.text, operator, bound: Number(bound[1]) / 100 }
}

/** Parses `[step.][metric.][statistic]`. @throws UserError with the grammar */
export function parseFigureName(text: string): FigureName {
  const issue = (what: string) =>
    userError.report(
      `--history "${text}": ${what}. Expected [step.][metric.][statistic], ${grammar}.`,
    )
  const read = parseFigure(text, metricNames, 'response')
  if (read === null) throw issue('it names neither metric nor statistic')
  return { ...named(read, issue), text: text.trim() }
}

/** The figure of a comparison, which has no phases and no filters. */
function named(
  { phase, step, metric, statistic, filter }: Figure<Difference['metric']>,
  issue: (what: string) => UserError,
): Omit<FigureName, 'text'> {
  if (filter !== null) throw issue(`a comparison has no {${filter}}`)
  if (phase !== null && step === null) throw issue('it names neither metric nor statistic')
  const of = { step: phase === null ? step : `${phase}/${step}`, metric }
  const fixed = metrics[metric]
  if (fixed !== null && statistic !== null) throw issue(`${metric} has no ${statistic}`)
  const known = statistics.find((one) => one === statistic)
  if (fixed === null && known === undefined)
    throw issue(
      statistic === null ? `${metric} needs a statistic` : `${metric} has no ${statistic}`,
    )
  return { ...of, statistic: fixed ?? known! }
}

/**
 * Judges a comparison by a gate. It passes only if the whole interval of the change is within the bound, and fails only if
 * the whole interval is beyond it. Else it is inconclusive, and says about how many requests would decide; so it is if the
 * figure was not measured, a run is INVALID, or the times of a run (of pairs: their ratio) are not of one level.
 */
export function judgeGate(comparison: Comparison, gate: Gate): GateResult {
  const invalid = invalidOf(comparison)
  if (invalid !== null) return { gate, result: 'inconclusive', summary: invalid }
  const found = comparison.differences.find(
    (difference) =>
      difference.metric === gate.metric &&
      difference.statistic === gate.statistic &&
      (difference.step === gate.step ||
        // In a run of one step, that step is the whole run.
        (difference.step === null &&
          comparison.a.all.step === null &&
          isOnlyStep(comparison, gate.step))),
  )
  if (found === undefined || found.change === null) {
    return { gate, result: 'inconclusive', summary: 'not measured in both runs' }
  }
  const summary = changeText(found)
  const open = (why: string): GateResult => ({
    gate,
    result: 'inconclusive',
    summary: `${summary}; ${why}`,
  })
  if (found.interval === null)
    return open(
      found.worth === null && !found.marks.includes('at-least')
        ? 'too few samples for an interval'
        : whyOpen(found),
    )
  // A change that both targets of a pair share cancels out; one of a single target does not.
  const unsteady = found.isPaired
    ? comparison.unsteadyPairs
    : (comparison.unsteady.a ?? comparison.unsteady.b)
  if (unsteady !== null && found.unit === 'us')
    return found.sides?.every((side) => judgeInterval(side, gate) === 'failed')
      ? { gate, result: 'failed', summary: `${summary}; before and after ${unsteady}` }
      : open(notOneLevel(unsteady))
  const result = judgeInterval(found.interval, gate)
  return result === 'inconclusive' ? open(whyOpen(found)) : { gate, result, summary }
}

function judgeInterval(interval: Difference['interval'], gate: Gate): GateResult['result'] {
  const [low, high] = [interval?.[0] ?? -Infinity, interval?.[1] ?? Infinity]
  const [best, worst] = gate.operator === '>' ? [low, high] : [-high, -low]
  const bound = gate.operator === '>' ? gate.bound : -gate.bound
  if (worst <= bound) return 'passed'
  return best > bound ? 'failed' : 'inconclusive'
}

/** Why an interval holds changes on both sides of a limit, and what would narrow it. */
function whyOpen({ metric, marks, needs, na, nb, worth, unit, repeats }: Difference): string {
  if (marks.includes('at-least'))
    return metric === 'tokens' ? 'not every answer reports its tokens' : 'timeouts cut samples off'
  if (repeats !== null)
    return `${repeats[0]} and ${repeats[1]} repeats leave changes on both sides of the limit; make more`
  const n = Math.min(na, nb)
  const held = worth === null ? n : smallest(worth)
  const what = unit === 'per s' ? 'seconds' : 'requests'
  return openText({ samples: n, worth: held, needs }, what)
}

function isOnlyStep(comparison: Comparison, step: string | null): boolean {
  return (
    step !== null &&
    comparison.a.steps.length === 1 &&
    comparison.b.steps.length === 1 &&
    comparison.a.steps[0]!.step === step &&
    comparison.b.steps[0]!.step === step
  )
}
