import { type Step, TimerHeap } from './timers.ts'

/**
 * The service's only clock. Windows, expiries, timestamps, the `Date` header and the pace of tokens
 * read it, so that a minute can pass in a second and a test can stop time.
 */
export interface Clock {
  /** The service's time in epoch microseconds. It never falls. */
  nowUs(): number
  /** Calls back once, at that time. Returns a function that cancels. */
  at(dueUs: number, callback: () => void): () => void
  /** Calls a step at that time, then again at each time that the step returns. */
  pace(dueUs: number, step: Step): () => void
  /** Runs what is already due, before the caller starts something new that can wait for it. */
  catchUp(): void
}

/** A clock that an operator can move forward. */
export interface MovableClock extends Clock {
  advance(us: number): void
}

/**
 * Real time from now on, at `scale` seconds of service time per second.
 *
 * @param earliestUs the start if the machine's time is earlier
 */
export function realClock(scale = 1, earliestUs = 0): MovableClock {
  const startUs = Math.max(Date.now() * 1000, earliestUs)
  const startMs = performance.now()
  const timers = new TimerHeap()
  let offsetUs = 0
  let armed: { readonly dueUs: number; readonly cancel: () => void } | null = null
  let running = false

  const nowUs = () => startUs + Math.floor((performance.now() - startMs) * 1000 * scale) + offsetUs
  const run = () => {
    armed = null
    running = true
    try {
      timers.runUntil(nowUs())
    } finally {
      running = false
      arm()
    }
  }
  const arm = () => {
    // The outer call looks for new timers once it has run all that are due.
    if (running) return
    const dueUs = timers.nextDueUs()
    if (dueUs === null || (armed !== null && armed.dueUs <= dueUs)) return
    armed?.cancel()
    armed = { dueUs, cancel: soon(run, (dueUs - nowUs()) / 1000 / scale) }
  }
  const pace = (dueUs: number, step: Step) => {
    const cancel = timers.add(dueUs, step)
    arm()
    return cancel
  }
  return {
    nowUs,
    at: (dueUs, callback) => pace(dueUs, once(callback)),
    pace,
    catchUp() {
      if (running || armed === null || armed.dueUs > nowUs()) return
      armed.cancel()
      run()
    },
    advance(us) {
      offsetUs += us
      armed?.cancel()
      run()
    },
  }
}

/** A step that is called once. */
export function once(callback: () => void): Step {
  return () => {
    callback()
    return null
  }
}

/**
 * Calls back after `waitMs` of real time. Returns a function that cancels. What is already due
 * starts no timer, because a timer takes a millisecond or more. At three quarters of a core of
 * paced tokens, each millisecond lost between two rounds makes both four times as long.
 */
function soon(callback: () => void, waitMs: number): () => void {
  if (waitMs <= 0) {
    const immediate = setImmediate(callback)
    return () => clearImmediate(immediate)
  }
  // A pending timer must not keep the process alive. Beyond 2^31 ms Node fires at once, so the wait
  // is a day at most, and the clock then looks again.
  const timeout = setTimeout(callback, Math.min(waitMs, 86_400_000)).unref()
  return () => clearTimeout(timeout)
}
