/**
 * Calls `tick` whenever something is due. Lateness is not hidden: a row says when it was meant to
 * go and when it went.
 *
 *     timer     sleeps until shortly before the next is due, and naps for the rest: at once while no answer is
 *               expected; in slices, with a look at the sockets between two, while requests are sparse and the
 *               loop is idle. Else a sleep takes at least 1 ms, and overdue requests also go when
 *               anything wakes the thread
 *     precise   spins when the next is near: a core for each thread, lag of microseconds
 */
export interface Paced {
  /** When something is next due; Infinity for nothing. */
  readonly nextUs: number
  /** Whether a socket may have something to read at any time. */
  readonly expectsAnswers: boolean
  /** When a socket was last read; NaN before the first read. */
  readonly readUs: number
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
 * Closer than this, a thread may sleep outside of the event loop, where a sleep counts microseconds. Without an
 * answer to come, nothing that it is late for is measured: messages and closed connections.
 */
const napWithinUs = 2500
/** What is due sooner waits for so long: more wakings would cost more than they bring. */
const shortestNapUs = 150
/** A nap while an answer may come: the stamp of that answer is so much late at most. */
const sliceUs = 150
/** Requests so far apart are worth slices; closer ones are sent late together, for less CPU each. */
const sparseUs = 900
/** After so many turns in a row that read an answer, a thread naps no more: the next answer wakes it. */
const busyTurns = 3
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
  let isSparse = false
  let nappedAtUs = Infinity
  let busy = 0
  let timer: NodeJS.Timeout
  /** How long to sleep outside of the event loop; 0 for not at all. */
  const napUs = (waitUs: number): number => {
    if (waitUs >= napWithinUs) return 0
    if (!paced.expectsAnswers) return Math.max(waitUs, shortestNapUs)
    return isSparse && busy < busyTurns ? Math.min(Math.max(waitUs, 1), sliceUs) : 0
  }
  const turn = (): void => {
    const dueUs = paced.nextUs
    ticking = true
    paced.tick()
    ticking = false
    if (stopped) return
    // A timer that aims early wakes before anything is due: the gap is still the one before that.
    if (paced.nextUs !== dueUs) isSparse = paced.nextUs - dueUs >= sparseUs
    busy = 0
    nappedAtUs = Infinity
    rest()
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
    if (napUs(waitUs) > 0) watching.ref()
    else watching.unref()
  }
  const woken = (): void => {
    watching = null
    if (stopped) return
    const startUs = now()
    const waitUs = paced.nextUs - startUs
    const us = napUs(waitUs)
    if (waitUs > 0 && us > 0) nap(us, startUs)
    const leftUs = paced.nextUs - now()
    if (leftUs > (isSparse || us > 0 ? 0 : -overdueUs)) {
      watch(leftUs)
      return
    }
    clearTimeout(timer)
    turn()
  }
  /** Sleeps, unless the last turn of the loop read an answer: more of them may have come. */
  const nap = (us: number, startUs: number): void => {
    const isBusy = paced.expectsAnswers && paced.readUs > nappedAtUs
    busy = isBusy ? busy + 1 : 0
    if (!isBusy) Atomics.wait(cell, 0, 0, us / 1000)
    nappedAtUs = now()
    if (!isBusy) nappedUs += nappedAtUs - startUs
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
