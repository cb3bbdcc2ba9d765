import { add, decimalText, readNumber, zero } from '../money/rational.ts'
import type { AttemptCounts } from '../run/count/attempt-counts.ts'
import { addCounts, noCounts } from '../run/count/attempt-counts.ts'
import type { Percentiles, Progress, RunCost, StepProgress } from '../run/count/progress.ts'
import { cellOf, TimeHistogram } from '../run/count/time-histogram.ts'
import { smallest } from '../user/extremes.ts'
import type { LiveWord, shownMetrics } from './messages.ts'

/** The progress of a run on all machines: counts are summed, and percentiles come from summed histograms. */
export function progressOfFleet(shards: readonly [LiveWord, ...LiveWord[]]): Progress {
  const [first] = shards
  const sum = (value: (shard: LiveWord) => number) =>
    shards.reduce((all, shard) => all + value(shard), 0)
  const furthest = shards.reduce((a, b) => (b.atUs > a.atUs ? b : a))
  const errors = new Map<string, number>()
  for (const { errors: own } of shards)
    for (const [code, count] of own) errors.set(code, (errors.get(code) ?? 0) + count)
  return {
    runId: first.runId,
    scenario: first.scenario,
    phase: furthest.phase,
    atUs: furthest.atUs,
    endsUs: furthest.endsUs,
    counts: shards.reduce((all: AttemptCounts, { counts }) => addCounts(all, counts), noCounts),
    inFlight: sum(({ inFlight }) => inFlight),
    creditsSpent: shards.some(({ creditsSpent }) => creditsSpent === null)
      ? null
      : sum(({ creditsSpent }) => creditsSpent!),
    money: moneyOf(shards.map(({ money }) => money)),
    maxCredits: shards.some(({ maxCredits }) => maxCredits === null)
      ? null
      : sum(({ maxCredits }) => maxCredits!),
    steps: [...Map.groupBy(shards.flatMap(stepsOf), ({ step }) => step.step).values()].map(
      stepOfAll,
    ),
    errors: [...errors].sort((a, b) => b[1] - a[1]),
    keys: [
      ...Map.groupBy(
        shards.flatMap(({ keys }) => keys),
        ({ name }) => name,
      ),
    ].map(([name, keys]) => ({
      name,
      creditsRemaining: lowest(keys.map(({ creditsRemaining }) => creditsRemaining)),
      rateRemaining: lowest(keys.map(({ rateRemaining }) => rateRemaining)),
    })),
    health: shards.flatMap(({ health }) => health),
  }
}

/** Null unless every machine reports money. */
function moneyOf(shards: readonly (RunCost | null)[]): RunCost | null {
  const known = shards.filter((each) => each !== null)
  const [first] = known
  if (first === undefined || known.length < shards.length) return null
  const total = (amounts: readonly string[]) =>
    decimalText(amounts.map((each) => readNumber(each) ?? zero).reduce(add, zero))
  const bounds = known.flatMap(({ most }) => (most === null ? [] : [most]))
  return {
    unit: first.unit,
    spent: total(known.map(({ spent }) => spent)),
    unknown: known.reduce((sum, { unknown }) => sum + unknown, 0),
    most: bounds.length < known.length ? null : total(bounds),
  }
}

interface StepOfShard {
  readonly step: LiveWord['steps'][number]
  readonly times: LiveWord['times']
}

const stepsOf = ({ steps, times }: LiveWord): readonly StepOfShard[] =>
  steps.map((step) => ({ step, times }))

function stepOfAll(shards: readonly StepOfShard[]): StepProgress {
  const { step } = shards[0]!.step
  const sum = (value: (own: StepOfShard['step']) => number) =>
    shards.reduce((all, { step: own }) => all + value(own), 0)
  const isOpen = shards.every(({ step: own }) => own.plannedPerS !== null)
  const percentiles = (metric: (typeof shownMetrics)[number]) =>
    percentilesOf(shards.map(({ times }) => times[metric]?.[step] ?? []))
  return {
    step,
    planned: sum(({ planned }) => planned),
    sent: sum(({ sent }) => sent),
    ok: sum(({ ok }) => ok),
    failures: sum(({ failures }) => failures),
    plannedPerS: isOpen ? sum(({ plannedPerS }) => plannedPerS!) : null,
    achievedPerS: sum(({ achievedPerS }) => achievedPerS),
    responseUs: percentiles('response'),
    serviceUs: percentiles('service'),
    ttftUs: percentiles('ttft'),
  }
}

function percentilesOf(
  shards: readonly (readonly (readonly [us: number, count: number])[])[],
): Percentiles | null {
  const histogram = new TimeHistogram()
  for (const [us, samples] of shards.flat())
    histogram.add({ from: cellOf(Math.floor(us)), cells: Uint32Array.of(samples), samples })
  const at = (p: number) => histogram.percentile(p)!
  return histogram.samples === 0
    ? null
    : { samples: histogram.samples, p50: at(50), p95: at(95), p99: at(99) }
}

function lowest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : smallest(known)
}
