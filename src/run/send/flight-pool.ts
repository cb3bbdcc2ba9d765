import type { TokenDeadlines } from '../../scenario/scenario.ts'
import { DeadlineCounter } from '../count/token-deadlines.ts'
import type { StepPlan } from '../plan/step-plan.ts'
import type { ActivePhase } from './active-phase.ts'
import { Flight, type FlightOwner } from './flight.ts'

/** Flights that have ended, for the next requests. */
export class FlightPool {
  private readonly owner: FlightOwner
  private readonly deadlines: TokenDeadlines | undefined
  private readonly free: Flight[] = []

  /** @param deadlines of the tokens of their streams, if the scenario has some */
  constructor(owner: FlightOwner, deadlines: TokenDeadlines | undefined) {
    this.owner = owner
    this.deadlines = deadlines
  }

  /** A flight of which nothing but its phase, step and key is decided. */
  acquire(phase: ActivePhase, plan: StepPlan, key: number): Flight {
    const flight = this.free.pop() ?? this.create()
    flight.phase = phase
    flight.plan = plan
    flight.key = key
    flight.retry = 0
    flight.turn = 0
    flight.credits = 0
    flight.conversation = null
    flight.user = null
    flight.task = null
    return flight
  }

  private create(): Flight {
    const { deadlines } = this
    return new Flight(this.owner, deadlines === undefined ? null : new DeadlineCounter(deadlines))
  }

  release(flight: Flight): void {
    this.free.push(flight)
  }
}
