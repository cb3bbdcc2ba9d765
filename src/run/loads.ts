import { readFileSync } from 'node:fs'
import type { Phase, Scenario } from '../scenario/scenario.ts'
import { parseTrace } from '../schedule/trace.ts'
import type { Loads } from './coordinator.ts'
import { RunError } from './errors.ts'
import type { SenderLoad } from './messages.ts'
import { runSweep, type SweepResult } from './sweep-run.ts'

/** What the senders of a scenario are given, with its traces read. */
export function phaseLoads(
  scenario: Scenario,
  baseUrl: string,
): Loads & { readonly sweeps: readonly SweepResult[] } {
  const traces = new Map<Phase, SenderLoad>()
  for (const phase of scenario.phases) {
    if (phase.load.kind === 'saturate' && !baseUrl.startsWith('http:')) {
      throw new RunError(
        `Phase ${phase.name} saturates by autocannon, which does not verify certificates, so no key is given to it over TLS. Use load: concurrency there.`,
      )
    }
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
        case 'replay':
          return traces.get(phase)!
        default:
          throw new Error(`a ${load.kind} is not sent as it is`)
      }
    },
  }
}

/** Reads the trace of a phase. @throws RunError, TraceError */
export function traceOf(load: Extract<Phase['load'], { kind: 'replay' }>): SenderLoad {
  let text: string
  try {
    text = readFileSync(load.path, 'utf8')
  } catch {
    throw new RunError(
      `The trace ${load.path} cannot be read. Its path starts from the folder of the scenario.`,
    )
  }
  return { kind: 'replay', requests: parseTrace(text, load.format, load.path), speed: load.speed }
}
