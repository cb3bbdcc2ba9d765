import type { TaskOutcome } from '../../attempt/outcome.ts'
import { type Begun, type PlannedTurn, whole } from '../../schedule/tasks.ts'

/** A request of a task that may be sent at a time. */
export interface DueTurn {
  /** Its number in the plan. */
  readonly number: number
  readonly atUs: number
}

/** What follows from the end of a request. */
export interface Following {
  readonly due: readonly DueTurn[]
  /** Requests that are due or in flight, and no longer wanted. */
  readonly dropped: readonly number[]
}

const nothing: Following = { due: [], dropped: [] }

type State = 'waiting' | 'open' | 'ended' | 'dropped'

/** The progress of one task: which requests may begin, given which have ended. Pure: times are given. */
export class TaskProgress {
  readonly plan: readonly PlannedTurn[]
  readonly startUs: number
  private readonly states: State[]
  private readonly endedUs: number[]
  /** By request, the delays on the longest path to its end. */
  private readonly waits: number[]
  private readonly followers: readonly (readonly number[])[]
  private readonly start: Begun
  /** Requests that are due or in flight, with dropped ones. */
  private open = 0
  private failed: TaskOutcome | null = null
  /** When its last request ended. */
  lastUs: number
  /** Delays on the path that decided when it ended. */
  waitUs = 0
  requests = 0

  /** @param start where it is when it starts */
  constructor(plan: readonly PlannedTurn[], startUs: number, start: Begun = whole) {
    this.plan = plan
    this.start = start
    this.startUs = startUs
    this.lastUs = startUs
    this.states = plan.map((_, number) => (number < start.from ? 'ended' : 'waiting'))
    this.endedUs = plan.map((_, number) => (number < start.from ? startUs : Number.NaN))
    this.waits = plan.map(() => 0)
    const followers: number[][] = plan.map(() => [])
    for (const [number, { after }] of plan.entries()) {
      for (const before of after) followers[before]!.push(number)
    }
    this.followers = followers
  }

  /** The requests that wait for none any more. */
  begin(): readonly DueTurn[] {
    const { left } = this.start
    const ready = (number: number) => this.states[number] === 'waiting' && this.isReady(number)
    // The rest of a join whose first has ended is not sent. In order of the plan: one that is dropped here drops no others.
    for (const [number, { after, rest }] of this.plan.entries()) {
      if (after.length > 0 && ready(number)) this.dropAll(rest)
    }
    const due = this.plan.flatMap((_, number) => (ready(number) ? [number] : []))
    return due.map((number) => this.beginAt(number, this.startUs, 0, left))
  }

  /** Null while requests of it are due or in flight. */
  get outcome(): TaskOutcome | null {
    if (this.open > 0) return null
    return this.failed ?? 'ok'
  }

  /** Requests that had ended before it started. */
  get skipped(): number {
    return this.start.from
  }

  get isCut(): boolean {
    return this.failed !== null
  }

  /** Nothing more of it begins. */
  cut(why: Exclude<TaskOutcome, 'ok'>): void {
    this.failed ??= why
  }

  /** A request that has not been sent is not sent, or a dropped one has ended. */
  leave(number: number): void {
    if (this.states[number] !== 'open' && this.states[number] !== 'dropped') return
    this.states[number] = 'ended'
    this.open--
  }

  /** A request has ended. @param isOk whether with an answer; else the task has failed */
  end(number: number, isOk: boolean, atUs: number): Following {
    const wasDropped = this.states[number] === 'dropped'
    this.leave(number)
    this.requests++
    if (wasDropped) return nothing
    this.endedUs[number] = atUs
    if (atUs >= this.lastUs) {
      this.lastUs = atUs
      this.waitUs = this.waits[number]!
    }
    if (!isOk) this.cut('failed')
    if (this.isCut) return nothing
    const due: DueTurn[] = []
    const dropped: number[] = []
    for (const next of this.followers[number]!) {
      if (this.states[next] !== 'waiting' || !this.isReady(next)) continue
      due.push(this.beginAt(next, atUs, this.waits[number]!))
      for (const each of this.dropAll(this.plan[next]!.rest)) dropped.push(each)
    }
    return { due, dropped }
  }

  private isReady(number: number): boolean {
    const { after, join } = this.plan[number]!
    const hasEnded = (before: number) => !Number.isNaN(this.endedUs[before])
    return after.length === 0 || (join === 'first' ? after.some(hasEnded) : after.every(hasEnded))
  }

  private beginAt(number: number, afterUs: number, waitUs: number, share = 1): DueTurn {
    const delayUs = Math.round(this.plan[number]!.delayUs * share)
    this.states[number] = 'open'
    this.open++
    this.waits[number] = waitUs + delayUs
    return { number, atUs: afterUs + delayUs }
  }

  /** @returns those that are due or in flight */
  private dropAll(numbers: readonly number[]): readonly number[] {
    return numbers.filter((number) => {
      const state = this.states[number]
      if (state === 'waiting' || state === 'open') this.states[number] = 'dropped'
      return state === 'open'
    })
  }
}
