import { type Step, TimerHeap } from './timers.ts'

/**
 * The service's only clock. Windows, expiries, timestamps, the `Date` header and the pace of
 * tokens all read it, so that a minute can pass in a second and a test can hold time still.
 */
export interface Clock {
  /** Epoch microseconds of the service's own time; never falls. */
  nowUs(): number
  /** Calls back once when the clock has reached that time; gives the way to cancel. */
  at(dueUs: number, callback: () => void): () => void
  /** Calls a step when the clock has reached that time, and again at each time that it gives. */
  pace(dueUs: number, step: Step): () => void
  /** Runs what is due already; for who begins something new, which may wait for that. */
  catchUp(): void
}

/** A clock that an operator may push forward. */
export interface MovableClock extends Clock {
  advance(us: number): void
}

/**
 * Real time, from now on, at `scale` seconds of service time per second.
 *
 * @param earliestUs where it starts when the machine's time is not there yet
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
    // What is added meanwhile is looked at when all that is due has run.
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

function once(callback: () => void): Step {
  return () => {
    callback()
    return null
  }
}

/**
 * Calls back after that many milliseconds of real time; gives the way to cancel. What is due
 * already waits for no timer, which would take a millisecond at least: at three quarters of a core
 * of paced tokens, each millisecond lost between two rounds makes both four times as long.
 */
function soon(callback: () => void, waitMs: number): () => void {
  if (waitMs <= 0) {
    const immediate = setImmediate(callback)
    return () => clearImmediate(immediate)
  }
  // A service lives as long as it listens, not as long as something is due. Beyond 2^31 ms Node
  // fires at once; a clock that looks again tomorrow is right too.
  const timeout = setTimeout(callback, Math.min(waitMs, 86_400_000)).unref()
  return () => clearTimeout(timeout)
}

/** Time that moves only when it is advanced. */
export function manualClock(startUs: number): MovableClock {
  const timers = new TimerHeap()
  let now = startUs
  return {
    nowUs: () => now,
    at: (dueUs, callback) => timers.add(dueUs, once(callback)),
    pace: (dueUs, step) => timers.add(dueUs, step),
    // Time does not pass: nothing is due that its last move did not run.
    catchUp() {},
    advance(us) {
      const end = now + us
      for (let due = timers.nextDueUs(); due !== null && due <= end; due = timers.nextDueUs()) {
        now = Math.max(now, due)
        timers.runUntil(now)
      }
      now = end
    },
  }
}
