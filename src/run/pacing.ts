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

/** A sleep is at most so long, so that what others add is seen soon. */
const longestSleepMs = 20
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

/** @returns ends it */
export function pace(paced: Paced, pacing: 'timer' | 'precise', now: () => number): () => void {
  return pacing === 'precise' ? spin(paced, now) : sleep(paced, now)
}

function sleep(paced: Paced, now: () => number): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  const turn = (): void => {
    paced.tick()
    if (stopped) return
    const waitMs = Math.floor((paced.nextUs - now()) / 1000)
    timer = setTimeout(turn, Math.min(longestSleepMs, Math.max(1, waitMs)))
  }
  // Without a reference an immediate does not keep the loop from sleeping: it runs after each wake.
  const woken = (): void => {
    if (stopped) return
    if (now() - paced.nextUs >= overdueUs) {
      clearTimeout(timer)
      turn()
    }
    setImmediate(woken).unref()
  }
  turn()
  woken()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

function spin(paced: Paced, now: () => number): () => void {
  let stopped = false
  let next: NodeJS.Timeout | NodeJS.Immediate
  const turn = (): void => {
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
    if (waitUs < spinWithinUs) next = setImmediate(turn)
    else {
      const sleepMs = Math.floor((waitUs - spinWithinUs) / 1000)
      next = setTimeout(turn, Math.min(longestSleepMs, Math.max(1, sleepMs)))
    }
  }
  turn()
  return () => {
    stopped = true
    clearTimeout(next as NodeJS.Timeout)
    clearImmediate(next as NodeJS.Immediate)
  }
}
