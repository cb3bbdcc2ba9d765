import type { StepPlan } from '../plan/step-plan.ts'
import type { ActivePhase } from './active-phase.ts'
import { Flight, type FlightOwner } from './flight.ts'

/** Flights that have ended, for the next requests. */
export class FlightPool {
  private readonly owner: FlightOwner
  private readonly free: Flight[] = []

  constructor(owner: FlightOwner) {
    this.owner = owner
  }

  /** A flight of which nothing but its phase, step and key is decided. */
  acquire(phase: ActivePhase, plan: StepPlan, key: number): Flight {
    const flight = this.free.pop() ?? new Flight(this.owner)
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

  release(flight: Flight): void {
    this.free.push(flight)
  }
}
