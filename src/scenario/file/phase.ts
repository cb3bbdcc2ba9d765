import { resolve } from 'node:path'
import type { z } from 'zod'
import { usualLimitUs } from '../../measure/limit.ts'
import { largest } from '../../user/extremes.ts'
import type { Load, Phase, RateSegment, Search, Spacing } from '../loads.ts'
import { noTime } from './lengths.ts'
import type { phase } from './loads.ts'
import type { Origin } from './origin.ts'
import type { ScenarioOutput } from './scenario-file.ts'

type Written = z.output<typeof phase>
type Of<Name extends Written['load']> = Extract<Written, { load: Name }>

/** What a phase takes from the rest of the scenario. */
export interface Around {
  readonly origin: Origin
  /** The times that a search must meet, in microseconds. */
  readonly objectives: ScenarioOutput['objectives']
  /** Names of the steps of a task's turns. */
  stepsOfTask(name: string): readonly string[]
}

export function phaseOf(phase: Written, around: Around): Phase {
  const { name, part, steps, tasks } = phase
  const stepsOfTasks = tasks.flatMap((task) => around.stepsOfTask(task))
  return {
    name,
    part,
    load: loadOf(phase, around),
    durationUs: durationOf(phase),
    maxRequests: 'max_requests' in phase ? (phase.max_requests ?? null) : null,
    steps: tasks.length === 0 ? steps : [...new Set(stepsOfTasks)],
    ...(tasks.length === 0 ? {} : { tasks }),
    ...middleOf(phase),
  }
}

function middleOf(phase: Written): Pick<Phase, 'middle'> {
  if (phase.load === 'sweep' || !('start' in phase) || phase.start === undefined) return {}
  return { middle: phase.start === 'middle' ? 'by load' : phase.start.middle }
}

function durationOf(phase: Written): number | null {
  if (phase.load === 'stages') return phase.stages.reduce((sum, stage) => sum + stage.duration, 0)
  return 'duration' in phase ? (phase.duration ?? null) : null
}

function loadOf(phase: Written, { origin, objectives }: Around): Load {
  switch (phase.load) {
    case 'constant':
    case 'poisson':
      return arrivals({ kind: phase.load }, [segmentOf(phase.rate, phase.duration ?? 0)])
    case 'gamma':
      return arrivals({ kind: 'gamma', shape: phase.burstiness }, [
        segmentOf(phase.rate, phase.duration ?? 0),
      ])
    case 'stages':
      return arrivals(
        spacingOf(phase),
        phase.stages.map((stage) => segmentOf(stage.rate, stage.duration)),
      )
    case 'day':
      return arrivals(spacingOf(phase), daySegments(phase))
    case 'concurrency': {
      const { users, think = noTime } = phase
      const ramp = typeof users === 'number' ? { from: users, to: users, over: 0 } : users
      return {
        kind: 'concurrency',
        fromUsers: ramp.from,
        toUsers: ramp.to,
        rampUs: ramp.over,
        think,
      }
    }
    case 'saturate':
      return { kind: 'saturate', connections: phase.connections }
    case 'sweep':
      return { kind: 'sweep', spacing: spacingOf(phase), search: searchOf(phase, objectives) }
    case 'replay':
      return {
        kind: 'replay',
        path: resolve(origin.folder, phase.file),
        format: phase.format ?? (phase.columns === undefined ? null : 'columns'),
        unit: phase.unit ?? null,
        columns: phase.columns ?? null,
        speed: phase.speed,
        gaps: gapsOf(phase.gaps ?? (phase.users === undefined ? undefined : 'recorded')),
        users: phase.users ?? null,
      }
  }
}

const arrivals = (spacing: Spacing, rate: readonly RateSegment[]): Load => ({
  kind: 'arrivals',
  spacing,
  rate,
})

function gapsOf(gaps: Of<'replay'>['gaps']): Extract<Load, { kind: 'replay' }>['gaps'] {
  if (gaps === undefined) return null
  return { capUs: gaps === 'recorded' ? null : gaps === 'none' ? 0 : gaps.cap }
}

/** A backlog is judged by this if no objective is a time. */
const defaultBoundUs = 1e6

function searchOf(
  phase: Of<'sweep'>,
  { ttft = 0, service = 0, response = 0, task }: Around['objectives'],
): Search {
  const mostUs = phase.for ?? null
  const isOfTasks = phase.tasks.length > 0
  return {
    startPerS: phase.start === 'auto' ? null : phase.start,
    maxPerS: phase.max,
    goodput: phase.goodput ?? 0.99,
    ...(isOfTasks ? { ofTasks: { withinUs: task ?? null } } : {}),
    boundUs:
      largest([...[ttft, service, response].map(usualLimitUs), (isOfTasks && task) || 0]) ||
      defaultBoundUs,
    budget: phase.budget ?? (mostUs === null ? 'standard' : null),
    mostUs,
    precision: phase.precision ?? null,
    hold: phase.hold ?? null,
    headroom: phase.headroom,
    trialUs: phase.trial ?? null,
    coolDownUs: phase.cool_down ?? null,
  }
}

function segmentOf(
  rate: number | { readonly from: number; readonly to: number },
  durationUs: number,
): RateSegment {
  return typeof rate === 'number'
    ? { durationUs, fromPerS: rate, toPerS: rate }
    : { durationUs, fromPerS: rate.from, toPerS: rate.to }
}

const spacingOf = ({ arrivals, burstiness = 1 }: Of<'stages' | 'day' | 'sweep'>): Spacing =>
  arrivals === 'gamma' ? { kind: 'gamma', shape: burstiness } : { kind: arrivals }

/** Hours of equal length; their rates follow the weights and have the given mean over a day. */
function daySegments(phase: Of<'day'>): readonly RateSegment[] {
  const hourUs = phase.duration / (phase.days * 24)
  const sum = phase.weights.reduce((total, weight) => total + weight, 0)
  const hours = Math.ceil(phase.days * 24)
  return Array.from({ length: hours }, (_, hour) => {
    const perS = sum === 0 ? 0 : (phase.rate * 24 * phase.weights[hour % 24]!) / sum
    return { durationUs: hourUs, fromPerS: perS, toPerS: perS }
  })
}
