import { availableParallelism } from 'node:os'
import { isLoopback } from '../../contract/base-url.ts'
import type { Phase } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { mostRequests } from '../../schedule/tasks.ts'
import { largest } from '../../user/extremes.ts'
import { stepsOf } from '../plan/phase-steps.ts'
import type { Loads } from './coordinator.ts'
import { type Shard, threadsOfShard } from './shard.ts'

/** A scenario with a decided number of sending threads. */
export type CrewedScenario = Scenario & { readonly threads: number }

/** Time of a thread for each request and event, in microseconds, on the machines of docs/peers.md. */
const costUs = { request: 40, event: 10 } as const
/** A busier thread writes late time stamps. */
const shareOfCore = 0.5
/** Events of a stream whose request sets no maximum. */
const eventsPerStream = 1024
/** Streams that one thread reads at fifty events a second each. */
const streamsPerThread = (shareOfCore * 1e6) / (50 * costUs.event)
/** Users of plain requests; the speed of the service is unknown. */
const usersPerThread = 64
/** Connections without think time that keep a thread busy. */
const connectionsPerThread = 16
/** Threads share the bound on requests in flight; a smaller share would be reached too early. */
const leastShareOfBound = 64

/**
 * The number of sending threads of a run: that of the scenario, or as many as its busiest phase needs and
 * the machine has. One core stays free for the recorder and the coordinator, or half of the machine for a
 * service on it. Shards need the same number on every machine, so each has one.
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
  const needed = largest(scenario.phases.map((phase) => threadsNeeded(scenario, loads, phase)))
  return Math.max(1, Math.min(Math.floor(most), Math.ceil(needed)))
}

/** Threads that a phase needs, with fractions. */
function threadsNeeded(scenario: Scenario, loads: Pick<Loads, 'load'>, phase: Phase): number {
  const steps = stepsOf(scenario, phase.steps).map((at) => scenario.steps[at]!)
  const { load } = phase
  const tasks = scenario.tasks.filter(({ name }) => phase.tasks?.includes(name))
  const requestsEach = largest(tasks.map(mostRequests), 1)
  const atPerS = (perS: number) => (perS * requestsEach * meanCostUs(steps)) / 1e6 / shareOfCore
  switch (load.kind) {
    case 'saturate':
      return load.connections / connectionsPerThread
    case 'concurrency': {
      const perThread = steps.every(({ stream }) => stream) ? streamsPerThread : usersPerThread
      return Math.max(load.fromUsers, load.toUsers) / perThread
    }
    case 'arrivals':
      return atPerS(largest(load.rate.map(({ fromPerS, toPerS }) => Math.max(fromPerS, toPerS))))
    case 'sweep':
      return atPerS(load.search.maxPerS)
    case 'replay': {
      const trace = loads.load(phase)
      if (trace.kind !== 'replay') throw new Error('a replay has a trace')
      if (trace.users !== undefined) return trace.users / usersPerThread
      const seconds = (trace.requests.at(-1)?.atUs ?? 0) / 1e6 / trace.speed
      return atPerS(trace.requests.length / Math.max(1, seconds))
    }
  }
}

/** Mean cost of a request of the mix, by the weights of its steps. */
function meanCostUs(steps: readonly Step[]): number {
  const weights = steps.reduce((sum, { weight }) => sum + weight, 0)
  const cost = ({ stream, maxTokens }: Step) =>
    costUs.request + (stream ? costUs.event * (maxTokens ?? eventsPerStream) : 0)
  // A turn of a task may be of a step that is never drawn alone.
  if (weights === 0) return steps.reduce((sum, step) => sum + cost(step), 0) / steps.length
  return steps.reduce((sum, step) => sum + (cost(step) * step.weight) / weights, 0)
}
