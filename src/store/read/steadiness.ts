import { levelOf } from '../../measure/interval/level.ts'
import { columnOf, countedOfRun, type MeasureName, measures } from '../../measure/measures.ts'
import type { Session } from '../session/session.ts'
import { readOrdered } from './ordered.ts'

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
  const change = Math.round(Math.abs(ratio - 1) * 100)
  const at = new Date(startedAtMs + atUs / 1000).toISOString().slice(11, 19)
  return `${step} ${measures[metric].title} ${change} % ${ratio > 1 ? 'slower' : 'faster'} from ${at} UTC`
}

const judged = ['response', 'ttft'] as const satisfies readonly MeasureName[]
/** Chance of a false alarm, over all series of the run together. */
const falseAlarm = 0.01

/** Looks for a trend or a step in each phase of an even load and each step; null if every series has one level. */
export async function readUnsteady(store: Session, runId: string): Promise<Unsteady | null> {
  const [run] = await store.rows<{ scenario: string }>(
    'SELECT scenario_json AS scenario FROM runs WHERE run_id = $1',
    [runId],
  )
  const uneven = unevenPhases(run?.scenario ?? '')
  const groups = await store.rows<{ phase: string; step: string }>(
    `SELECT DISTINCT phase, step FROM request_kinds WHERE run_id = $1 AND ${countedOfRun} ORDER BY ALL`,
    [runId],
  )
  const levels: (Unsteady & { readonly chance: number })[] = []
  let tested = 0
  for (const { phase, step } of groups.filter((group) => !uneven.has(group.phase))) {
    const ordered = await readOrdered(
      store,
      '(FROM attempt_values WHERE run_id = $1 AND phase = $2 AND step = $3)',
      judged.map((metric) => ({ value: columnOf(metric), cut: null })),
      [runId, phase, step],
    )
    for (const [nth, metric] of judged.entries()) {
      const { values, atUs } = ordered[nth]!
      const { chance, change } = levelOf(values)
      if (chance === null) continue
      tested++
      if (change === null) continue
      levels.push({ chance, step, metric, atUs: atUs[change.at]!, ratio: change.ratio })
    }
  }
  const [worst] = levels.toSorted((one, other) => one.chance - other.chance)
  if (worst === undefined || worst.chance * tested > falseAlarm) return null
  const { chance: _, ...found } = worst
  return found
}

/** Phases whose load is meant to change; none of a run from another tool, which says nothing of its load. */
function unevenPhases(scenarioJson: string): ReadonlySet<string> {
  let phases: readonly StoredPhase[] = []
  try {
    const { phases: stored } = JSON.parse(scenarioJson) as { readonly phases?: unknown }
    if (Array.isArray(stored)) phases = stored
  } catch {
    // An unreadable scenario says nothing of its load.
  }
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
