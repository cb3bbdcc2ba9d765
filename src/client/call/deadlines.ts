import type { TimeoutReason } from '../../attempt/outcome.ts'

/** The four deadlines of an attempt, in microseconds; Infinity for none. */
export interface Deadlines {
  /** From dispatch to the send: pool wait, name lookup, connecting, TLS. */
  readonly connectUs: number
  /** From the send to the complete response head. */
  readonly firstByteUs: number
  /** Between two reads of the body. */
  readonly idleUs: number
  /** From dispatch to the end. */
  readonly totalUs: number
}

/** Microseconds that a stream which has said its end may take to close its body. */
const closeUs = 2e6

/** `close`: the stream has said its end, and its body is open. */
export type Stage = TimeoutReason | 'close'

export interface Armed {
  readonly onDeadline: (reason: Stage) => void
  reason: Stage
  /** Infinity while it is not armed. */
  dueUs: number
  /** When the timer checks it, never after `dueUs`; Infinity while it is not in the heap. */
  lookUs: number
  /** Index in the heap; -1 while it is not there. */
  place: number
}

export const disarmed = (onDeadline: (reason: Stage) => void): Armed => ({
  onDeadline,
  reason: 'total',
  dueUs: Infinity,
  lookUs: Infinity,
  place: -1,
})

/** Longest delay of a platform timer, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1

/**
 * All deadlines of a client's attempts on one platform timer; none fires early.
 *
 * Few ever fire, and each step postpones one. So postponing writes one number: the timer checks at the original time, and again
 * at the postponed one. Those to check are in a heap.
 */
export class DeadlineTimer {
  private readonly now: () => number
  private readonly lengths: Deadlines
  private readonly heap: Armed[] = []
  private timer: NodeJS.Timeout | null = null
  private wakeUs = Number.POSITIVE_INFINITY

  constructor(now: () => number, deadlines: Deadlines) {
    this.now = now
    this.lengths = deadlines
  }

  /** Restarts the deadline from `fromUs`. */
  arm(armed: Armed, reason: Stage, fromUs: number, nowUs = fromUs): void {
    armed.reason = reason
    armed.dueUs = fromUs + this.lengthUs(reason)
    if (armed.dueUs < armed.lookUs) this.look(armed, nowUs)
  }

  disarm(armed: Armed): void {
    armed.dueUs = Number.POSITIVE_INFINITY
  }

  /** Forgets all deadlines. Until then, a platform timer holds what they belong to, also where all are disarmed. */
  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    this.wakeUs = Number.POSITIVE_INFINITY
    while (this.heap.length > 0) this.drop(this.heap[0]!)
  }

  lengthUs(reason: Stage): number {
    switch (reason) {
      case 'connect':
        return this.lengths.connectUs
      case 'first-byte':
        return this.lengths.firstByteUs
      case 'idle':
        return this.lengths.idleUs
      case 'total':
        return this.lengths.totalUs
      case 'close':
        return closeUs
    }
  }

  /** Schedules a check when it is due. */
  private look(armed: Armed, nowUs: number): void {
    armed.lookUs = armed.dueUs
    this.rise(armed, armed.place === -1 ? this.heap.length : armed.place)
    if (armed.lookUs < this.wakeUs) this.wakeAt(armed.lookUs, nowUs)
  }

  private wakeAt(dueUs: number, nowUs: number): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.wakeUs = dueUs
    const delayMs = Math.min(Math.max(Math.ceil((dueUs - nowUs) / 1000), 1), maxTimerMs)
    this.timer = setTimeout(this.onTimer, delayMs)
    // Sockets keep the process alive; a deadline must not.
    this.timer.unref()
  }

  private readonly onTimer = (): void => {
    this.timer = null
    this.wakeUs = Number.POSITIVE_INFINITY
    const nowUs = this.now()
    for (let first = this.heap[0]; first !== undefined; first = this.heap[0]) {
      if (first.lookUs > nowUs) break
      if (first.dueUs <= nowUs) {
        this.drop(first)
        first.dueUs = Number.POSITIVE_INFINITY
        first.onDeadline(first.reason)
      } else if (first.dueUs === Number.POSITIVE_INFINITY) this.drop(first)
      else {
        first.lookUs = first.dueUs
        this.sink(first, 0)
      }
    }
    const next = this.heap[0]
    if (next !== undefined && next.lookUs < this.wakeUs) this.wakeAt(next.lookUs, this.now())
  }

  private drop(first: Armed): void {
    first.lookUs = Number.POSITIVE_INFINITY
    first.place = -1
    const last = this.heap.pop()!
    if (last !== first) this.sink(last, 0)
  }

  /** Moves it to its place in the heap, at `place` or before. */
  private rise(armed: Armed, place: number): void {
    let at = place
    while (at > 0) {
      const above = (at - 1) >> 1
      if (this.heap[above]!.lookUs <= armed.lookUs) break
      this.put(this.heap[above]!, at)
      at = above
    }
    this.put(armed, at)
  }

  /** Moves it to its place in the heap, at `place` or after. */
  private sink(armed: Armed, place: number): void {
    let at = place
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.heap.length) break
      const other = below + 1
      if (other < this.heap.length && this.heap[other]!.lookUs < this.heap[below]!.lookUs)
        below = other
      if (this.heap[below]!.lookUs >= armed.lookUs) break
      this.put(this.heap[below]!, at)
      at = below
    }
    this.put(armed, at)
  }

  private put(armed: Armed, place: number): void {
    this.heap[place] = armed
    armed.place = place
  }
}
