import { thinkUs } from '../../schedule/draw.ts'
import type { StepPlan } from '../plan/step-plan.ts'
import type { RunningTask } from '../tasks/running-task.ts'
import type { ActivePhase } from './active-phase.ts'
import type { Flight } from './flight.ts'
import type { FlightPool } from './flight-pool.ts'
import type { Requester } from './requester.ts'

/** Makes the flights of a thread: their place, key, time and request, which the plan decides. */
export class FlightDraws {
  private readonly requester: Requester
  private readonly pool: FlightPool

  constructor(requester: Requester, pool: FlightPool) {
    this.requester = requester
    this.pool = pool
  }

  keyOf(phase: ActivePhase, index: number): number {
    return phase.keyOf(index, this.planAt(phase, index).keys)
  }

  /** The request at an index of its phase: alone, or the first turn of a conversation. */
  first(phase: ActivePhase, index: number, intendedUs: number): Flight {
    const plan = this.planAt(phase, index)
    const flight = this.pool.acquire(phase, plan, phase.keyOf(index, plan.keys))
    flight.slot = phase.slotOf(index, 0)
    flight.intendedUs = intendedUs
    this.requester.ask(flight, index)
    return flight
  }

  /** The next turn of a conversation, after think time; null if it is over. */
  nextTurn(flight: Flight, answer: string, nowUs: number): Flight | null {
    const { conversation, phase, plan } = flight
    if (conversation === null) return null
    const turns = Math.min(plan.turns, conversation.userTurns?.length ?? Infinity)
    if (flight.turn + 1 >= turns) return null
    conversation.messages.push({ role: 'assistant', content: answer })
    // The stride of the phase, because its steps may have unlike numbers of turns.
    const draw = conversation.index * phase.stride + flight.turn
    const atUs = nowUs + thinkUs(plan.step.session!.think, phase.thinkDraws, draw)
    if (atUs >= phase.endUs) return null
    const next = this.pool.acquire(phase, plan, flight.key)
    next.slot = flight.slot + 1
    next.turn = flight.turn + 1
    next.conversation = conversation
    next.user = flight.user
    next.intendedUs = atUs
    this.requester.say(next)
    return next
  }

  taskTurn(task: RunningTask, number: number, atUs: number): Flight {
    const { phase, index, key } = task
    const flight = this.pool.acquire(phase, this.stepNamed(task.turnOf(number).step), key)
    flight.slot = phase.slotOf(index, number)
    flight.turn = number
    flight.task = task
    flight.intendedUs = atUs
    this.requester.askTurn(flight, task)
    return flight
  }

  /** Invents a turn that ended before its task started. */
  inventTaskTurn(task: RunningTask, number: number): void {
    const { phase, index } = task
    const plan = this.stepNamed(task.turnOf(number).step)
    this.requester.inventTurn(task, number, { phase, plan, slot: phase.slotOf(index, number) })
  }

  private planAt(phase: ActivePhase, index: number): StepPlan {
    return this.requester.plans[phase.stepAt(index)]!
  }

  private stepNamed(name: string): StepPlan {
    return this.requester.plans.find(({ step }) => step.name === name)!
  }
}
