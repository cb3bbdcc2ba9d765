import { dirname, join } from 'node:path'
import type { Phase } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Trial } from '../../schedule/safe-rate/trial.ts'
import { readTrace } from '../../schedule/traces/read.ts'
import { sessionsOf } from '../../schedule/traces/sessions.ts'
import type { Trace } from '../../schedule/traces/trace.ts'
import { readText } from '../../user/read-text.ts'
import { UserError, userError } from '../../user/user-error.ts'
import type { Loads } from '../crew/coordinator.ts'
import type { SenderLoad } from '../crew/messages.ts'
import { runSweep, type SweepResult } from '../search/sweep-run.ts'

export interface PhaseLoads extends Loads {
  /** One result for each sweep that ended, in order. */
  readonly sweeps: readonly SweepResult[]
}

/**
 * The loads of a scenario's phases, with its traces read.
 *
 * @param earlierTrials of the same sweep in an earlier run
 * @throws UserError for a trace that cannot be read
 */
export function phaseLoads(scenario: Scenario, earlierTrials: readonly Trial[] = []): PhaseLoads {
  const replays = new Map<Phase, SenderLoad>()
  for (const phase of scenario.phases) {
    if (phase.load.kind === 'replay') replays.set(phase, replayOf(phase.load))
  }
  const sweeps: SweepResult[] = []
  return {
    sweeps,
    async sweep(coordinator, phase) {
      sweeps.push(await runSweep(coordinator, phase, earlierTrials))
    },
    load(phase) {
      const { load } = phase
      switch (load.kind) {
        case 'arrivals':
        case 'concurrency':
          return load
        case 'saturate':
          return flatOut(load.connections)
        case 'replay':
          return replays.get(phase)!
        case 'sweep':
          throw new Error('a sweep is not sent as it is')
      }
    },
  }
}

/** Users without think time, one for each connection. */
function flatOut(connections: number): SenderLoad {
  const think = { kind: 'fixed', us: 0 } as const
  return { kind: 'concurrency', fromUsers: connections, toUsers: connections, rampUs: 0, think }
}

type Replay = Extract<Phase['load'], { kind: 'replay' }>

/** The load of a replay. @throws UserError */
export function replayOf(load: Replay): SenderLoad {
  const { requests, tokensPerBlock } = traceOf(load)
  const { speed, gaps, users } = load
  const sessions = gaps === null ? {} : { sessions: sessionsOf(requests, { ...gaps, speed }) }
  const usersOfClosedLoad = users === null ? {} : { users }
  return { kind: 'replay', requests, tokensPerBlock, speed, ...sessions, ...usersOfClosedLoad }
}

/** Reads the trace of a phase. @throws UserError */
export function traceOf({ path, format, unit, columns }: Replay): Trace {
  const text = textOf(path)
  if (text === null) {
    throw userError.run(
      `The trace ${path} cannot be read. Its path is relative to the scenario's folder.`,
    )
  }
  // ServeGen has the lengths of its requests in a second file.
  const beside = (name: string) => textOf(join(dirname(path), name))
  return readTrace({ path, text, format, unit, columns, beside })
}

/**
 * @returns null for a file that cannot be read
 * @throws UserError for one whose bytes are not the text that they should be, such as damaged gzip
 */
function textOf(path: string): string | null {
  try {
    return readText(path)
  } catch (error) {
    if (error instanceof UserError) throw error
    return null
  }
}
