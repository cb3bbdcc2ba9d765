/**
 * The service's only clock. Windows, expiries, timestamps, the `Date` header and the pace of
 * tokens all read it, so that a minute can pass in a second and a test can hold time still.
 */
export interface Clock {
  /** Epoch microseconds of the service's own time; never falls. */
  nowUs(): number
  /** Calls back once when the clock has reached that time; gives the way to cancel. */
  at(dueUs: number, callback: () => void): () => void
}

/** A clock that an operator may push forward. */
export interface MovableClock extends Clock {
  advance(us: number): void
}

interface Timer {
  readonly dueUs: number
  /** Breaks ties, so that equal times keep their order. */
  readonly order: number
  callback: (() => void) | null
}

/** A binary heap of timers: a thousand paced streams are one Node timer, not a thousand. */
class TimerHeap {
  readonly #heap: Timer[] = []
  #order = 0

  add(dueUs: number, callback: () => void): Timer {
    const timer: Timer = { dueUs, order: this.#order++, callback }
    const heap = this.#heap
    let child = heap.push(timer) - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!before(timer, heap[parent]!)) break
      heap[child] = heap[parent]!
      child = parent
    }
    heap[child] = timer
    return timer
  }

  nextDueUs(): number | null {
    while (this.#heap.length > 0 && this.#heap[0]!.callback === null) this.#pop()
    return this.#heap[0]?.dueUs ?? null
  }

  /** Runs what is due, in order of time; a callback may add more. */
  runUntil(nowUs: number): void {
    for (let due = this.nextDueUs(); due !== null && due <= nowUs; due = this.nextDueUs()) {
      const { callback } = this.#pop()
      callback?.()
    }
  }

  #pop(): Timer {
    const heap = this.#heap
    const top = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return top
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[parent] = heap[child]!
      parent = child
    }
    heap[parent] = last
    return top
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.dueUs < b.dueUs || (a.dueUs === b.dueUs && a.order < b.order)
}

/** Real time, from now on, at `scale` seconds of service time per second. */
export function realClock(scale = 1): MovableClock {
  const startUs = Date.now() * 1000
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
  return {
    nowUs,
    at(dueUs, callback) {
      const timer = timers.add(dueUs, callback)
      arm()
      return () => {
        timer.callback = null
      }
    },
    advance(us) {
      offsetUs += us
      armed?.cancel()
      run()
    },
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
  // A service lives as long as it listens, not as long as something is due. Beyond 2^31 ms Node fires at once; a clock that looks again tomorrow is right too.
  const timeout = setTimeout(callback, Math.min(waitMs, 86_400_000)).unref()
  return () => clearTimeout(timeout)
}

/** Time that stands still until somebody moves it. */
export function manualClock(startUs: number): MovableClock {
  const timers = new TimerHeap()
  let now = startUs
  return {
    nowUs: () => now,
    at(dueUs, callback) {
      const timer = timers.add(dueUs, callback)
      return () => {
        timer.callback = null
      }
    },
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
