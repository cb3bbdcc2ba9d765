/**
 * Calls `tick` whenever something is due. Lateness is not hidden: a row says when it was meant to
 * go and when it went.
 *
 *     timer     sleeps until the next is due, at least 1 ms, and sends all that came due since;
 *               what is overdue also goes when anything else wakes the thread
 *     precise   spins when the next is near: a core for each thread, lag of microseconds
 */
export interface Paced {
  /** When something is next due; Infinity for nothing. */
  readonly nextUs: number
  tick(): void
}

export interface Pace {
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
  let stopped = false
  let ticking = false
  let watching = false
  let wakeUs = 0
  let timer: NodeJS.Timeout
  const turn = (): void => {
    ticking = true
    paced.tick()
    ticking = false
    if (!stopped) rest()
  }
  const rest = (): void => {
    const nowUs = now()
    const waitMs = Math.floor((paced.nextUs - nowUs) / 1000)
    const sleepMs = Math.min(longestSleepMs, Math.max(1, waitMs))
    wakeUs = nowUs + sleepMs * 1000
    timer = setTimeout(turn, sleepMs)
    watch(nowUs)
  }
  const watch = (nowUs: number): void => {
    if (watching || paced.nextUs - nowUs > watchWithinUs) return
    watching = true
    // Without a reference an immediate does not keep the loop from sleeping: it runs after each wake.
    setImmediate(woken).unref()
  }
  const woken = (): void => {
    watching = false
    if (stopped) return
    const nowUs = now()
    if (nowUs - paced.nextUs >= overdueUs) {
      clearTimeout(timer)
      turn()
    } else watch(nowUs)
  }
  turn()
  return {
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
