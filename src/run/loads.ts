import { readFileSync } from 'node:fs'
import type { Phase, Scenario } from '../scenario/scenario.ts'
import { parseTrace } from '../schedule/trace.ts'
import { UserError } from '../user/user-error.ts'
import type { Loads } from './coordinator.ts'
import type { SenderLoad } from './messages.ts'
import { runSweep, type SweepResult } from './sweep-run.ts'

/** The loads of a scenario's phases, with its traces read. @throws UserError */
export function phaseLoads(
  scenario: Scenario,
): Loads & { readonly sweeps: readonly SweepResult[] } {
  const traces = new Map<Phase, SenderLoad>()
  for (const phase of scenario.phases) {
    if (phase.load.kind === 'replay') traces.set(phase, traceOf(phase.load))
  }
  const sweeps: SweepResult[] = []
  return {
    sweeps,
    async sweep(coordinator, phase) {
      sweeps.push(await runSweep(coordinator, phase))
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
          return traces.get(phase)!
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

/** Reads the trace of a phase. @throws UserError */
export function traceOf(load: Extract<Phase['load'], { kind: 'replay' }>): SenderLoad {
  let text: string
  try {
    text = readFileSync(load.path, 'utf8')
  } catch {
    throw new UserError(
      'run',
      `The trace ${load.path} cannot be read. Its path is relative to the scenario's folder.`,
    )
  }
  return { kind: 'replay', requests: parseTrace(text, load.format, load.path), speed: load.speed }
}
