import type { Contract } from '../../contract/contract.ts'
import { decimalText } from '../../money/rational.ts'
import { costRational } from '../../price/attempts/attempt-costs.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Task } from '../../scenario/tasks.ts'
import { begunAt, planTask } from '../../schedule/tasks.ts'
import { largest } from '../../user/extremes.ts'
import type { PhaseRun } from '../crew/messages.ts'
import { ownersOf, type Shard, scenarioOf, threadsOfShard, unsharded } from '../crew/shard.ts'
import { ActivePhase } from '../send/active-phase.ts'
import { crowdOf } from './crowd.ts'
import { KeyChoice } from './key-choice.ts'
import { replayOf, traceOf } from './loads.ts'
import { advanceShare, arrivalsOf } from './phase-arrivals.ts'
import { stepsOf, tasksOf } from './phase-steps.ts'
import { PlanCosts } from './plan-costs.ts'
import { promptPools } from './prompts.ts'
import { creditsOf } from './step-plan.ts'
import { type TracePlan, tracePlanOf } from './trace-plan.ts'

/** The requests that a phase would send. */
export interface PhasePlan {
  readonly phase: string
  readonly part: string
  readonly load: string
  readonly durationUs: number | null
  /** Planned requests, without retries and later turns; null if responses or a search decide their number. */
  readonly requests: number | null
  readonly bySteps: Readonly<Record<string, number>>
  /** Credits if every request succeeds that can; null if the number of requests is open. */
  readonly mostCredits: number | null
  /** The most that it can cost in money, an exact decimal; null if that is open, or without prices. */
  readonly mostCost: { readonly amount: string; readonly unit: string } | null
  /** What the trace of a replay holds, as it was recorded; null for other loads. */
  readonly trace: TracePlan | null
  /** The tasks of a phase of tasks; `requests` is the sum of theirs. */
  readonly tasks?: TasksPlan
}

export interface TasksPlan {
  readonly count: number
  /** Those of them that start in their middle. */
  readonly begun: number
  /** Requests of a task. */
  readonly least: number
  readonly mean: number
  readonly most: number
}

function tasksPlanOf(requests: readonly number[], begun: number): TasksPlan {
  const sum = requests.reduce((total, each) => total + each, 0)
  const [least, most] = requests.reduce(
    ([low, high], each) => [Math.min(low, each), Math.max(high, each)],
    [Infinity, 0],
  )
  return { count: requests.length, begun, least: least!, mean: sum / requests.length, most: most! }
}

/**
 * Walks the plans of the open phases, as senders do.
 *
 * @param shard the machine; by default, one machine sends everything
 * @param hearsOthers whether machines can agree on what comes next
 * @throws UserError for a file of prompts or a trace that cannot be read, or for what shards cannot do
 */
export function planOf(
  scenario: Scenario,
  contract: Contract,
  seed: number,
  shard: Shard = unsharded,
  hearsOthers = false,
): readonly PhasePlan[] {
  scenarioOf(scenario, shard, hearsOthers)
  const costs = PlanCosts.of(scenario, contract, seed, promptPools(scenario, seed), Date.now())
  const moneyOf = (units: bigint | null) =>
    costs === null || units === null
      ? null
      : { amount: decimalText(costRational(units)), unit: costs.unit }
  const plus = (sum: bigint | null, units: bigint | null) =>
    sum === null || units === null ? null : sum + units
  const owners = ownersOf(scenario, shard.of)
  const choices = scenario.steps.map((step) => new KeyChoice(step, scenario.keys))
  return scenario.phases.map((phase, ordinal): PhasePlan => {
    const { load } = phase
    const base = {
      phase: phase.name,
      part: phase.part,
      load: load.kind === 'arrivals' ? load.spacing.kind : load.kind,
      durationUs: phase.durationUs,
    }
    if (load.kind !== 'arrivals' && load.kind !== 'replay') {
      const isOpen = load.kind === 'sweep' || phase.tasks !== undefined
      const requests = isOpen ? null : phase.maxRequests
      const prices = stepsOf(scenario, phase.steps).map((at) => {
        const step = scenario.steps[at]!
        return creditsOf(step, contract) * (step.session?.turns ?? 1)
      })
      const mostCredits = requests === null ? null : requests * largest(prices)
      const dearest = stepsOf(scenario, phase.steps)
        .map((at) => costs?.most(at) ?? null)
        .reduce((a, b) => (a === null || b === null ? null : a > b ? a : b))
      const mostCost = moneyOf(
        requests === null || dearest === null ? null : BigInt(requests) * dearest,
      )
      return { ...base, requests, bySteps: {}, mostCredits, mostCost, trace: null }
    }
    const sent = load.kind === 'replay' ? replayOf(load) : load
    const isClosed = crowdOf(sent) !== null
    const run: PhaseRun = {
      ...phase,
      // Users do every session, unless the phase ends before.
      durationUs: isClosed ? null : phase.durationUs,
      ordinal,
      load: sent,
      startUs: 0,
      slotBase: 0,
      steps: stepsOf(scenario, phase.steps),
      ...tasksOf(scenario, phase, sent, seed),
    }
    const active = new ActivePhase(run, scenario, seed)
    const counts = scenario.steps.map(() => 0)
    let mostCredits = 0
    let mostUnits: bigint | null = 0n
    const ofStep = scenario.steps.map((_, at) => costs?.most(at) ?? null)
    let requests = 0
    /** Requests of each task. */
    const tasks: number[] = []
    let begun = 0
    const countTurns = (task: Task, index: number): number => {
      const plan = planTask(task, active.turnDraws, index)
      const turns = active.isBegun(index)
        ? plan.slice(begunAt(task, plan, active.turnDraws, index).from)
        : plan
      for (const { turn } of turns) {
        const at = scenario.steps.findIndex(({ name }) => name === task.turns[turn]!.step)
        counts[at]!++
        mostCredits += creditsOf(scenario.steps[at]!, contract)
        // The conversation before a turn is not known, and with it what its prompt costs.
        mostUnits = null
      }
      requests += turns.length
      return turns.length
    }
    const ownsKey = (index: number) =>
      owners![active.keyOf(index, choices[active.stepAt(index)]!)] === shard.index
    const threads = threadsOfShard(scenario)
    for (let thread = 0; thread < threads; thread++) {
      const arrivals = arrivalsOf(run, seed)!
      const advance =
        owners === null
          ? () => advanceShare(arrivals, shard.index * threads + thread, shard.of * threads)
          : () => advanceShare(arrivals, thread, threads, ownsKey)
      while (advance()) {
        const task = active.taskAt(arrivals.index)
        if (task !== null) {
          tasks.push(countTurns(task, arrivals.index))
          if (active.isBegun(arrivals.index)) begun++
          continue
        }
        const at = active.stepAt(arrivals.index)
        const step = scenario.steps[at]!
        const { sessions } = active
        const ofIndex = sessions === null ? [arrivals.index] : sessions[arrivals.index]!.requests
        for (const index of ofIndex) {
          requests++
          counts[at]!++
          const traced = run.load.kind === 'replay' ? run.load.requests[index]! : null
          const model = traced?.model ?? step.model
          mostCredits += creditsOf(step, contract, model) * (step.session?.turns ?? 1)
          const units = traced === null ? ofStep[at]! : (costs?.most(at, traced) ?? null)
          mostUnits = plus(mostUnits, units)
        }
      }
    }
    const bySteps = Object.fromEntries(
      scenario.steps.map(({ name }, at) => [name, counts[at]!] as const).filter(([, n]) => n > 0),
    )
    const trace = load.kind === 'replay' ? tracePlanOf(traceOf(load)) : null
    const isCut = isClosed && phase.durationUs !== null
    return {
      ...base,
      mostCredits,
      mostCost: moneyOf(mostUnits),
      trace,
      ...(isCut ? { requests: null, bySteps: {} } : { requests, bySteps }),
      ...(tasks.length === 0 ? {} : { tasks: tasksPlanOf(tasks, begun) }),
    }
  })
}
