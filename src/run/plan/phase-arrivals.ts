import { ArrivalPlan } from '../../schedule/arrivals.ts'
import type { TraceRequest } from '../../schedule/traces/trace.ts'
import type { PhaseRun } from '../crew/messages.ts'

/** An open plan as a cursor. */
export interface Arrivals {
  readonly index: number
  /** Since the phase began. */
  readonly atUs: number
  /** Moves to an arrival, by default the next. @returns false if the plan has no such arrival */
  advance(to?: number): boolean
  /** Moves to the last arrival; without arrivals, stays before the first. */
  finish(): void
}

/**
 * Moves to the next arrival of a share: every `shares`-th index.
 *
 * @param isOwn a further condition on the index
 * @returns false if there is none
 */
export function advanceShare(
  arrivals: Arrivals,
  share: number,
  shares: number,
  isOwn: ((index: number) => boolean) | null = null,
): boolean {
  do {
    if (!arrivals.advance(arrivals.index < 0 ? share : arrivals.index + shares)) return false
  } while (isOwn !== null && !isOwn(arrivals.index))
  return true
}

/** The plan of an open load. Of a closed replay, its sessions in their order; null for users without a trace. */
export function arrivalsOf(
  run: Pick<PhaseRun, 'load' | 'durationUs' | 'maxRequests' | 'name' | 'begunTasks'>,
  seed: number,
): Arrivals | null {
  const { load, durationUs, name, begunTasks = 0 } = run
  const maxRequests = run.maxRequests === null ? null : run.maxRequests - begunTasks
  switch (load.kind) {
    case 'arrivals': {
      const planned = new ArrivalPlan(
        load.spacing,
        load.rate,
        { durationUs, maxRequests },
        seed,
        name,
      )
      return begunTasks === 0 ? planned : new BegunArrivals(planned, begunTasks)
    }
    case 'replay':
      return new TraceArrivals(
        load.sessions?.map(({ requests }) => load.requests[requests[0]!]!) ?? load.requests,
        ...([load.speed, durationUs, maxRequests] as const),
      )
    case 'concurrency':
      return null
  }
}

/** The tasks that have begun already, which go on as the phase begins, and then those of the plan. */
class BegunArrivals implements Arrivals {
  index = -1
  private readonly planned: Arrivals
  private readonly begun: number

  constructor(planned: Arrivals, begun: number) {
    this.planned = planned
    this.begun = begun
  }

  get atUs(): number {
    return this.index < 0 ? Infinity : this.index < this.begun ? 0 : this.planned.atUs
  }

  advance(to = this.index + 1): boolean {
    if (to >= this.begun && !this.planned.advance(to - this.begun)) return false
    this.index = to
    return true
  }

  finish(): void {
    this.planned.finish()
    this.index = this.begun + this.planned.index
  }
}

/** The requests of a trace, at its speed. */
class TraceArrivals implements Arrivals {
  index = -1
  atUs = Infinity
  private readonly requests: readonly TraceRequest[]
  private readonly speed: number
  private readonly count: number

  constructor(
    requests: readonly TraceRequest[],
    speed: number,
    durationUs: number | null,
    maxRequests: number | null,
  ) {
    this.requests = requests
    this.speed = speed
    const most = Math.min(requests.length, maxRequests ?? Infinity)
    const endUs = durationUs ?? Infinity
    const after = requests.findIndex((_, index) => this.timeOf(index) >= endUs)
    this.count = Math.min(after === -1 ? Infinity : after, most)
  }

  advance(to = this.index + 1): boolean {
    if (to >= this.count) return false
    this.index = to
    this.atUs = this.timeOf(to)
    return true
  }

  finish(): void {
    if (this.count > 0) this.advance(this.count - 1)
  }

  private timeOf(index: number): number {
    return Math.floor(this.requests[index]!.atUs / this.speed)
  }
}
