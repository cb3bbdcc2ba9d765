/**
 * Calls `tick` whenever something is due. Lateness is not hidden: a row says when it was meant to
 * go and when it went.
 *
 *     timer     sleeps until the next is due, and sends all that came due since. While no answer is
 *               expected it wakes to within a tenth of a millisecond; else a sleep takes at least 1 ms,
 *               and what is overdue also goes when anything else wakes the thread
 *     precise   spins when the next is near: a core for each thread, lag of microseconds
 */
export interface Paced {
  /** When something is next due; Infinity for nothing. */
  readonly nextUs: number
  /** Whether a socket may have something to read at any time. */
  readonly expectsAnswers: boolean
  tick(): void
}

export interface Pace {
  /** How long the thread has slept outside of the event loop, which counts that as work. */
  readonly nappedUs: number
  /** To be called when something came to be due first: the sleep may be too long for it. */
  look(): void
  stop(): void
}

/** A sleep is at most so long. */
const longestSleepMs = 20
/**
 * Only what is due within this can have to go when something else wakes the thread: to look at each
 * waking costs a closed load, where nothing is ever due, a thirtieth of its time.
 */
const watchWithinUs = 1_000_000
/**
 * Closer than this, a thread that expects no answer sleeps outside of the event loop, where a sleep
 * counts microseconds. Nothing that it is late for is measured: messages and closed connections.
 */
const napWithinUs = 2500
/** What is due sooner waits for so long: more wakings would cost more than they bring. */
const shortestNapUs = 150
/** Closer than this, `precise` spins. */
const spinWithinUs = 3000
/** While it spins, it looks at its sockets so often: an answer's stamp is that much late at most. */
const lookEveryUs = 20
/**
 * Overdue by this, requests go out with whatever woke the thread. A timer of the platform counts
 * whole milliseconds and begins anew with each answer, so alone it is up to 2 ms late. Less would
 * send one request per answer: more wakings for the same load.
 */
const overdueUs = 300

export function pace(paced: Paced, pacing: 'timer' | 'precise', now: () => number): Pace {
  return pacing === 'precise' ? spin(paced, now) : sleep(paced, now)
}

function sleep(paced: Paced, now: () => number): Pace {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  let stopped = false
  let ticking = false
  let watching: NodeJS.Immediate | null = null
  let wakeUs = 0
  let nappedUs = 0
  let timer: NodeJS.Timeout
  const mayNap = (waitUs: number): boolean => waitUs < napWithinUs && !paced.expectsAnswers
  const turn = (): void => {
    ticking = true
    paced.tick()
    ticking = false
    if (!stopped) rest()
  }
  const rest = (): void => {
    const nowUs = now()
    const waitUs = paced.nextUs - nowUs
    // A timer is up to a millisecond late: it aims early, and a nap counts the rest in microseconds.
    const sleepMs = Math.min(longestSleepMs, Math.max(1, Math.floor(waitUs / 1000) - 1))
    wakeUs = nowUs + sleepMs * 1000
    timer = setTimeout(turn, sleepMs)
    watch(waitUs)
  }
  const watch = (waitUs: number): void => {
    if (waitUs > watchWithinUs) return
    watching ??= setImmediate(woken)
    // Without a reference an immediate does not keep the loop from sleeping: it runs after each wake.
    if (mayNap(waitUs)) watching.ref()
    else watching.unref()
  }
  const woken = (): void => {
    watching = null
    if (stopped) return
    const startUs = now()
    const waitUs = paced.nextUs - startUs
    if (mayNap(waitUs)) {
      if (waitUs > 0) {
        Atomics.wait(cell, 0, 0, Math.max(waitUs, shortestNapUs) / 1000)
        nappedUs += now() - startUs
      }
    } else if (waitUs > -overdueUs) {
      watch(waitUs)
      return
    }
    clearTimeout(timer)
    turn()
  }
  turn()
  return {
    get nappedUs() {
      return nappedUs
    },
    look() {
      // A tick is followed by a look of its own.
      if (ticking || stopped) return
      if (paced.nextUs >= wakeUs) return
      clearTimeout(timer)
      rest()
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

function spin(paced: Paced, now: () => number): Pace {
  let stopped = false
  let asleep = false
  let next: NodeJS.Timeout | NodeJS.Immediate
  const turn = (): void => {
    asleep = false
    const lookAtUs = now() + lookEveryUs
    do {
      paced.tick()
      if (stopped) return
      // A loop of our own: one immediate per look leaves garbage behind, one per reading of the
      // clock made the collector stop the thread twenty times a second.
      const untilUs = Math.min(paced.nextUs, lookAtUs)
      while (now() < untilUs);
    } while (now() < lookAtUs)
    const waitUs = paced.nextUs - now()
    asleep = waitUs >= spinWithinUs
    if (asleep) {
      const sleepMs = Math.floor((waitUs - spinWithinUs) / 1000)
      next = setTimeout(turn, Math.min(longestSleepMs, Math.max(1, sleepMs)))
    } else next = setImmediate(turn)
  }
  turn()
  return {
    nappedUs: 0,
    look() {
      if (!asleep) return
      clearTimeout(next as NodeJS.Timeout)
      next = setImmediate(turn)
      asleep = false
    },
    stop() {
      stopped = true
      asleep = false
      clearTimeout(next as NodeJS.Timeout)
      clearImmediate(next as NodeJS.Immediate)
    },
  }
}
