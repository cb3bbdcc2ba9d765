import type { TimeoutReason } from '../attempt/outcome.ts'

/** The four deadlines of an attempt, in microseconds; Infinity for none. */
export interface Deadlines {
  /** From dispatch until the socket carries the request: pool wait, name lookup, connecting, TLS. */
  readonly connectUs: number
  /** From then until the response head is complete. */
  readonly firstByteUs: number
  /** Between two reads of the body. */
  readonly idleUs: number
  /** From dispatch to the end. */
  readonly totalUs: number
}

/** One armed deadline; it stands in one queue at a time. */
export interface Armed {
  readonly onDeadline: (reason: TimeoutReason) => void
  dueUs: number
  queue: DeadlineQueue | null
  before: Armed | null
  after: Armed | null
}

export function disarmed(onDeadline: (reason: TimeoutReason) => void): Armed {
  return { onDeadline, dueUs: 0, queue: null, before: null, after: null }
}

/**
 * Deadlines of one length. All that are armed later are due later, so a list in order of arming is
 * sorted by itself: arming and disarming are a few pointers, whatever is in flight.
 */
class DeadlineQueue {
  readonly reason: TimeoutReason
  readonly lengthUs: number
  first: Armed | null = null
  last: Armed | null = null

  constructor(reason: TimeoutReason, lengthUs: number) {
    this.reason = reason
    this.lengthUs = lengthUs
  }

  append(armed: Armed): void {
    armed.queue = this
    armed.before = this.last
    armed.after = null
    if (this.last === null) this.first = armed
    else this.last.after = armed
    this.last = armed
  }

  remove(armed: Armed): void {
    if (armed.before === null) this.first = armed.after
    else armed.before.after = armed.after
    if (armed.after === null) this.last = armed.before
    else armed.after.before = armed.before
    armed.queue = null
    armed.before = null
    armed.after = null
  }
}

/** Longest delay of a timer of the platform, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1

/**
 * All deadlines of a client's attempts on one timer of the platform, which is set for the earliest
 * of four. A deadline never passes early, and late by what the event loop is late.
 */
export class DeadlineTimer {
  private readonly now: () => number
  private readonly connect: DeadlineQueue
  private readonly firstByte: DeadlineQueue
  private readonly idle: DeadlineQueue
  private readonly total: DeadlineQueue
  private readonly all: readonly DeadlineQueue[]
  private timer: NodeJS.Timeout | null = null
  private wakeUs = Number.POSITIVE_INFINITY

  constructor(now: () => number, deadlines: Deadlines) {
    this.now = now
    this.connect = new DeadlineQueue('connect', deadlines.connectUs)
    this.firstByte = new DeadlineQueue('first-byte', deadlines.firstByteUs)
    this.idle = new DeadlineQueue('idle', deadlines.idleUs)
    this.total = new DeadlineQueue('total', deadlines.totalUs)
    this.all = [this.connect, this.firstByte, this.idle, this.total]
  }

  /** Starts the deadline anew from `nowUs`; it leaves the queue where it stood. */
  arm(armed: Armed, reason: TimeoutReason, nowUs: number): void {
    if (armed.queue !== null) armed.queue.remove(armed)
    const queue = this.queueOf(reason)
    if (queue.lengthUs === Number.POSITIVE_INFINITY) return
    armed.dueUs = nowUs + queue.lengthUs
    queue.append(armed)
    if (armed.dueUs < this.wakeUs) this.wakeAt(armed.dueUs, nowUs)
  }

  private queueOf(reason: TimeoutReason): DeadlineQueue {
    switch (reason) {
      case 'connect':
        return this.connect
      case 'first-byte':
        return this.firstByte
      case 'idle':
        return this.idle
      case 'total':
        return this.total
    }
  }

  disarm(armed: Armed): void {
    if (armed.queue !== null) armed.queue.remove(armed)
  }

  private wakeAt(dueUs: number, nowUs: number): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.wakeUs = dueUs
    const delayMs = Math.min(Math.max(Math.ceil((dueUs - nowUs) / 1000), 1), maxTimerMs)
    this.timer = setTimeout(this.onTimer, delayMs)
    // Sockets keep the process alive; a deadline of ten minutes must not.
    this.timer.unref()
  }

  private readonly onTimer = (): void => {
    this.timer = null
    this.wakeUs = Number.POSITIVE_INFINITY
    const nowUs = this.now()
    for (const queue of this.all) {
      while (queue.first !== null && queue.first.dueUs <= nowUs) {
        const due: Armed = queue.first
        queue.remove(due)
        due.onDeadline(queue.reason)
      }
    }
    let earliestUs = Number.POSITIVE_INFINITY
    for (const { first } of this.all) {
      if (first !== null && first.dueUs < earliestUs) earliestUs = first.dueUs
    }
    if (earliestUs < this.wakeUs) this.wakeAt(earliestUs, this.now())
  }
}
