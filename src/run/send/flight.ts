import type { RunningAttempt } from '../../client/call/client.ts'
import type { Message, PreparedRequest } from '../../client/call/request.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { AttemptListener } from '../../client/row/attempt-context.ts'
import { ItlCells } from '../count/itl-cells.ts'
import type { DeadlineCounter } from '../count/token-deadlines.ts'
import type { StepPlan } from '../plan/step-plan.ts'
import type { RunningTask } from '../tasks/running-task.ts'
import type { ActivePhase } from './active-phase.ts'

/** A conversation with one key. */
export interface Conversation {
  readonly id: number
  readonly messages: Message[]
  /** The draw that chooses its prompts. */
  readonly uniform: number
  readonly index: number
  /** What the user says in each turn, if a file has whole conversations; absent without an end of its own. */
  readonly userTurns?: readonly string[]
}

/** A user of a closed load. */
export interface User {
  readonly phase: ActivePhase
  readonly number: number
  /** Think times so far. */
  thoughts: number
}

export interface FlightOwner {
  ended(flight: Flight, attempt: Attempt): void
}

/**
 * One planned request, until its last attempt ends. Flights are reused, so that a high rate creates no
 * garbage.
 */
export class Flight implements AttemptListener {
  phase!: ActivePhase
  plan!: StepPlan
  request!: PreparedRequest
  template = -1
  /** Index of the key; -1 for none. */
  key = -1
  slot = 0
  retry = 0
  turn = 0
  intendedUs = 0
  /** Most credits that a success costs. */
  price = 0
  /** Credits set aside for it. */
  credits = 0
  /** Money set aside for it, in the unit of the bound. */
  reserved = 0n
  /** Whether its body is kept if it succeeds. */
  sampled = false
  conversation: Conversation | null = null
  user: User | null = null
  /** The task that it is a turn of: `turn` is its number in it. */
  task: RunningTask | null = null
  running: RunningAttempt | null = null
  /** Whether its stream has begun to say something. */
  hasContent = false
  /** Times between the events of its stream. */
  readonly itl = new ItlCells()
  /** The deadlines of the tokens of its stream, once it has content. */
  readonly deadlines: DeadlineCounter | null
  /** Index in `InFlight`. */
  place = -1
  private readonly owner: FlightOwner

  /** @param deadlines null for a scenario without deadlines of tokens */
  constructor(owner: FlightOwner, deadlines: DeadlineCounter | null) {
    this.owner = owner
    this.deadlines = deadlines
  }

  onItl(itlUs: number): void {
    this.itl.add(itlUs)
    this.deadlines?.next(itlUs)
  }

  onContent(waitUs: number): void {
    this.hasContent = true
    this.deadlines?.first(waitUs)
  }

  onEnd(attempt: Attempt): void {
    this.owner.ended(this, attempt)
  }
}
