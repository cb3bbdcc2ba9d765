import {
  coldStartOf,
  fewestOfStart,
  type Start,
  startOf,
  warmUpCut,
} from '../../measure/interval/cold-start.ts'
import { levelOf } from '../../measure/interval/level.ts'
import { columnOf, type MeasureName, measures } from '../../measure/measures.ts'
import { countedOfRun } from '../../measure/standings.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import type { Session } from '../session/session.ts'
import { type Ordered, readOrdered } from './ordered.ts'

/** A run whose times are not of one level, and where that shows most. */
export interface Unsteady {
  readonly step: string
  readonly metric: MeasureName
  /** Planned send of the first request after the change, microseconds of the run's clock. */
  readonly atUs: number
  /** Median after it, divided by the median before it. */
  readonly ratio: number
}

/** `chat response 31 % slower from 14:03:20 UTC`. @param startedAtMs Unix milliseconds of the run's start */
export function unsteadyText({ step, metric, atUs, ratio }: Unsteady, startedAtMs: number): string {
  const at = new Date(startedAtMs + atUs / 1000).toISOString().slice(11, 19)
  return `${step} ${measures[metric].title} ${changeOf(ratio)} from ${at} UTC`
}

/** The first requests of a step, whose times are not those of the others. */
export interface RunStart {
  readonly step: string
  readonly metric: MeasureName
  /** Planned send of the first request after them, and the time to it from the first one; microseconds of the run's clock. */
  readonly untilUs: number
  readonly lengthUs: number
  /** Their median, divided by the median of the others. */
  readonly ratio: number
}

/** `chat response 60 % slower in the first 4.1 s`. */
export const startText = ({ step, metric, lengthUs, ratio }: RunStart): string =>
  `${step} ${measures[metric].title} ${changeOf(ratio)} in the first ${secondsOf(lengthUs)}`

const changeOf = (ratio: number) =>
  `${Math.round(Math.abs(ratio - 1) * 100)} % ${ratio > 1 ? 'slower' : 'faster'}`
const secondsOf = (us: number) => `${Number((us / 1e6).toPrecision(2))} s`

export interface Steadiness {
  /** Where a level changes most; null if every series has one level, or is too short to tell. */
  readonly change: Unsteady | null
  /** The longest cold start; null if no step begins cold, or is too short to tell. */
  readonly coldStart: RunStart | null
}

const judged = ['response', 'ttft'] as const satisfies readonly MeasureName[]
/** Chance of a false alarm, over all series of the run together. */
const falseAlarm = 0.01

/** Looks for a trend or a step in each phase of an even load and each step, and for a cold start in the first of them. */
export async function readSteadiness(session: Session, runId: string): Promise<Steadiness> {
  const levels: (Unsteady & { readonly chance: number })[] = []
  const starts: RunStart[] = []
  let tested = 0
  for await (const each of readSeries(session, runId)) {
    const { step, metric, values, atUs, isFirst } = each
    const cold = isFirst ? coldStartOf(values) : null
    if (cold !== null) starts.push(runStartOf(each, cold))
    const { chance, change } = levelOf(values)
    if (chance === null) continue
    tested++
    if (change === null) continue
    levels.push({ chance, step, metric, atUs: atUs[change.at]!, ratio: change.ratio })
  }
  const [worst] = levels.toSorted((one, other) => one.chance - other.chance)
  const coldStart = longest(starts)
  if (worst === undefined || worst.chance * tested > falseAlarm) return { change: null, coldStart }
  const { chance: _, ...change } = worst
  return { change, coldStart }
}

/**
 * Where the warm-up of a run ends: the latest cut of MSER-5 among the times of all steps of its first phase.
 *
 * @returns `too few` if no step has enough requests; `not steady` if a cut would lie in the last half of a step's; null for no cut
 */
export async function readWarmUp(
  session: Session,
  runId: string,
): Promise<RunStart | 'too few' | 'not steady' | null> {
  const cuts: RunStart[] = []
  let read = 0
  for await (const each of readSeries(session, runId)) {
    if (!each.isFirst || each.values.length < fewestOfStart) continue
    read++
    const count = warmUpCut(each.values)
    if (count === null) return 'not steady'
    if (count > 0) cuts.push(runStartOf(each, startOf(each.values, count)))
  }
  return read === 0 ? 'too few' : longest(cuts)
}

const longest = (starts: readonly RunStart[]): RunStart | null =>
  starts.toSorted((one, other) => other.untilUs - one.untilUs)[0] ?? null

function runStartOf({ step, metric, atUs }: TimesOfStep, { count, ratio }: Start): RunStart {
  const untilUs = atUs[count]!
  return { step, metric, untilUs, lengthUs: untilUs - atUs[0]!, ratio }
}

interface TimesOfStep extends Ordered {
  readonly step: string
  readonly metric: MeasureName
  /** Whether it is of the first phase that counts. */
  readonly isFirst: boolean
}

/** Times of each step, in each phase of an even load that counts; the first phase first. */
async function* readSeries(session: Session, runId: string): AsyncGenerator<TimesOfStep> {
  const [run] = await session.rows<{ scenario: string }>(
    'SELECT scenario_json AS scenario FROM runs WHERE run_id = $1',
    [runId],
  )
  const uneven = unevenPhases(run?.scenario ?? '')
  const groups = await session.rows<{ phase: string; step: string }>(
    `SELECT phase, step FROM (
       SELECT phase, step, min(intended_us) AS at_us FROM attempt_values
       WHERE run_id = $1 AND ${countedOfRun} GROUP BY ALL)
     ORDER BY min(at_us) OVER (PARTITION BY phase), phase, step`,
    [runId],
  )
  for (const { phase, step } of groups.filter((group) => !uneven.has(group.phase))) {
    const ordered = await readOrdered(
      session,
      `(FROM attempt_values WHERE run_id = $1 AND phase = $2 AND step = $3 AND ${countedOfRun})`,
      judged.map((metric) => ({ value: columnOf(metric), cut: null })),
      [runId, phase, step],
    )
    for (const [nth, metric] of judged.entries()) {
      yield { step, metric, ...ordered[nth]!, isFirst: phase === groups[0]!.phase }
    }
  }
}

/** Phases whose load is meant to change; none of a run from another tool, which says nothing of its load. */
function unevenPhases(scenarioJson: string): ReadonlySet<string> {
  const { phases: stored } = objectOf(jsonOf(scenarioJson))
  const phases: readonly StoredPhase[] = Array.isArray(stored) ? stored : []
  return new Set(phases.filter(({ load }) => !isEven(load)).map(({ name }) => name))
}

interface StoredPhase {
  readonly name: string
  readonly load?: {
    readonly kind?: string
    readonly rate?: readonly { readonly fromPerS?: number; readonly toPerS?: number }[]
    readonly fromUsers?: number
    readonly toUsers?: number
  }
}

function isEven(load: StoredPhase['load']): boolean {
  switch (load?.kind) {
    case 'arrivals': {
      const rates = (load.rate ?? []).flatMap(({ fromPerS, toPerS }) => [fromPerS, toPerS])
      return new Set(rates).size === 1
    }
    case 'concurrency':
      return load.fromUsers === load.toUsers
    case 'saturate':
      return true
    default:
      return false
  }
}
