import { availableParallelism } from 'node:os'
import { isLoopback } from '../contract/base-url.ts'
import type { Phase, Scenario, Step } from '../scenario/scenario.ts'
import type { Loads } from './coordinator.ts'
import { stepsOf } from './phase-steps.ts'
import { type Shard, threadsOfShard } from './shard.ts'

/** A scenario whose number of sending threads is decided. */
export type CrewedScenario = Scenario & { readonly threads: number }

/** What a thread spends on the work of a plan, on the machines of docs/peers.md, in microseconds. */
const costUs = { request: 40, event: 10 } as const
/** A thread that is busier than this stamps late. */
const shareOfCore = 0.5
/** What a stream may hold where its request names no most. */
const eventsPerStream = 1024
/** Streams that one thread reads at fifty events a second each. */
const streamsPerThread = (shareOfCore * 1e6) / (50 * costUs.event)
/** Users of plain requests: nobody knows how fast a service answers them. */
const usersPerThread = 64
/** Connections without think time: so many keep a thread busy. */
const connectionsPerThread = 16
/** A bound on what is in flight is dealt to threads: smaller shares would meet it early. */
const leastShareOfBound = 64

/**
 * Sending threads of a run: those that the scenario names, else as many as its busiest phase needs and the
 * machine has. One core is left to the recorder and the coordinator, and half of the machine to a service on it.
 * Shards deal requests by their number of threads, which has to be the same on every machine: one each.
 */
export function threadsOf(
  scenario: Scenario,
  loads: Pick<Loads, 'load'>,
  shard: Shard,
  baseUrl: string | null,
  cores = availableParallelism(),
): number {
  if (scenario.threads !== null) return scenario.threads
  if (shard.of > 1) return threadsOfShard(scenario)
  const { maxInFlight, maxConnections } = scenario.policy
  const spareCores = baseUrl !== null && isLoopback(baseUrl) ? cores / 2 : cores - 1
  const most = Math.min(
    spareCores,
    maxInFlight / leastShareOfBound,
    (maxConnections ?? Infinity) / leastShareOfBound,
  )
  const needed = Math.max(...scenario.phases.map((phase) => threadsNeeded(scenario, loads, phase)))
  return Math.max(1, Math.min(Math.floor(most), Math.ceil(needed)))
}

/** Threads that a phase keeps busy to the share that one may be. */
function threadsNeeded(scenario: Scenario, loads: Pick<Loads, 'load'>, phase: Phase): number {
  const steps = stepsOf(scenario, phase.steps).map((at) => scenario.steps[at]!)
  const { load } = phase
  const atPerS = (perS: number) => (perS * meanCostUs(steps)) / 1e6 / shareOfCore
  switch (load.kind) {
    case 'saturate':
      return load.connections / connectionsPerThread
    case 'concurrency': {
      const perThread = steps.every(({ stream }) => stream) ? streamsPerThread : usersPerThread
      return Math.max(load.fromUsers, load.toUsers) / perThread
    }
    case 'arrivals':
      return atPerS(
        Math.max(...load.rate.map(({ fromPerS, toPerS }) => Math.max(fromPerS, toPerS))),
      )
    case 'sweep':
      return atPerS(load.maxPerS)
    case 'replay': {
      const trace = loads.load(phase)
      if (trace.kind !== 'replay') throw new Error('a replay has a trace')
      const seconds = (trace.requests.at(-1)?.atUs ?? 0) / 1e6 / trace.speed
      return atPerS(trace.requests.length / Math.max(1, seconds))
    }
  }
}

/** Of the phase's mix, by the weights of its steps. */
function meanCostUs(steps: readonly Step[]): number {
  const weights = steps.reduce((sum, { weight }) => sum + weight, 0)
  const cost = ({ stream, maxTokens }: Step) =>
    costUs.request + (stream ? costUs.event * (maxTokens ?? eventsPerStream) : 0)
  return steps.reduce((sum, step) => sum + (cost(step) * step.weight) / weights, 0)
}
