import { advanceShare } from '../plan/phase-arrivals.ts'
import type { StepPlan } from '../plan/step-plan.ts'
import type { ActivePhase } from '../send/active-phase.ts'
import { mostOfClosed } from './following.ts'
import type { SenderData } from './messages.ts'
import { ownersOf } from './shard.ts'
import type { SharedNumbers } from './shared.ts'

/** Which requests of a phase are this thread's: shards split requests by their index, or accounts. */
export class MachineShare {
  private readonly data: SenderData
  private readonly shared: SharedNumbers
  private readonly plans: readonly StepPlan[]
  /** The machine of each key, if shards split accounts. */
  private readonly owners: readonly number[] | null
  /** This machine, and how many share the run. */
  private readonly machine: number
  private readonly machines: number

  constructor(data: SenderData, shared: SharedNumbers, plans: readonly StepPlan[]) {
    const { scenario, shard, shards } = data
    this.data = data
    this.shared = shared
    this.plans = plans
    this.machine = Math.floor(shard / scenario.threads)
    this.machines = shards / scenario.threads
    this.owners = ownersOf(scenario, this.machines)
  }

  /** Moves an open phase to the next arrival of this thread. @returns false if none follows */
  advance(phase: ActivePhase): boolean {
    const { shard, shards, scenario } = this.data
    if (this.owners === null) return advanceShare(phase.arrivals!, shard, shards)
    const { threads } = scenario
    const isOurs = (index: number) => this.ownsKey(phase, index)
    return advanceShare(phase.arrivals!, shard % threads, threads, isOurs)
  }

  /** The index of the next request of a closed phase; null if the phase has no more. */
  takeNext(phase: ActivePhase): number | null {
    let index = this.nextIndex(phase)
    while (!this.ownsKey(phase, index)) index = this.nextIndex(phase)
    return index < mostOfClosed(phase.run) ? index : null
  }

  private nextIndex({ run }: ActivePhase): number {
    const next = this.shared.nextRequest(run.ordinal)
    return this.owners === null ? next * this.machines + this.machine : next
  }

  private ownsKey(phase: ActivePhase, index: number): boolean {
    const { owners } = this
    if (owners === null) return true
    const { keys } = this.plans[phase.stepAt(index)]!
    return owners[phase.keyOf(index, keys)] === this.machine
  }
}
