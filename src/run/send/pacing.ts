/**
 * Calls `tick` when something is due. Lateness is not hidden: a row has the planned and the actual time.
 *
 *     timer     sleeps until shortly before the next due time, then naps. While no response is expected,
 *               one nap covers the rest. While requests are sparse and the loop is idle, it naps in
 *               slices and polls the sockets between two. Otherwise a sleep takes at least 1 ms, and
 *               overdue requests are also sent when anything wakes the thread
 *     precise   spins when the next due time is near: one core for each thread, lag of microseconds
 */
export interface Paced {
  /** When something is next due; Infinity for nothing. */
  readonly nextUs: number
  /** Whether a response may arrive at any time. */
  readonly expectsAnswers: boolean
  /** When a socket was last read; NaN before the first read. */
  readonly readUs: number
  tick(): void
}

export interface Pace {
  /** Total time of naps outside of the event loop, which counts them as work. */
  readonly nappedUs: number
  /** Call it when something new is due before all others, because the current sleep may be too long. */
  look(): void
  stop(): void
}

const longestSleepMs = 20
/**
 * Each wake of the thread is checked for due requests only if one is due within this time. A check costs a
 * closed load, where nothing is ever due, a thirtieth of its time.
 */
const watchWithinUs = 1_000_000
/**
 * Within this time of the due time, a thread may nap outside of the event loop, with a precision of
 * microseconds. While no response is expected, a nap delays only messages and closed connections, which
 * are not measured.
 */
const napWithinUs = 1200
/** A sleep in the event loop is up to this much longer than its whole milliseconds. */
const oversleepUs = 200
/** A shorter nap would cost more wakes than it gains; something due sooner waits this long. */
const shortestNapUs = 150
/** Longest nap while a response may arrive: it delays the time stamp by at most this. */
const sliceUs = 150
/** Requests this far apart are worth slices; closer ones are sent late together, which saves CPU. */
const sparseUs = 900
/** After this many turns in a row that read a response, a thread stops napping: responses wake it. */
const busyTurns = 3
/** Within this time of the due time, `precise` spins. */
const spinWithinUs = 3000
/** Time between two polls of the sockets while it spins: it delays a time stamp by at most this. */
const lookEveryUs = 20
/**
 * A request overdue by this is sent when anything wakes the thread. The platform's timer counts whole
 * milliseconds and restarts with each response, so alone it is up to 2 ms late. A smaller value would send
 * one request per response, with more wakes for the same load.
 */
const overdueUs = 300

export const pace = (paced: Paced, pacing: 'timer' | 'precise', now: () => number): Pace =>
  pacing === 'precise' ? spin(paced, now) : sleep(paced, now)

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
  /** Length of the next nap outside of the event loop; 0 for none. */
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
    // A timer that aims early may wake before anything is due; then the gap is unchanged.
    if (paced.nextUs !== dueUs) isSparse = paced.nextUs - dueUs >= sparseUs
    busy = 0
    nappedAtUs = Infinity
    rest()
  }
  const rest = (): void => {
    const nowUs = now()
    const waitUs = paced.nextUs - nowUs
    aim(waitUs, nowUs)
    watch(waitUs)
  }
  /** Sets the timer as late as possible without firing after the due time; a nap covers the rest. */
  const aim = (waitUs: number, nowUs: number): void => {
    const wholeMs = Math.floor((waitUs - oversleepUs) / 1000)
    const sleepMs = Math.min(longestSleepMs, Math.max(1, wholeMs))
    wakeUs = nowUs + sleepMs * 1000
    timer = setTimeout(turn, sleepMs)
  }
  const watch = (waitUs: number): void => {
    if (waitUs > watchWithinUs) return
    watching ??= setImmediate(woken)
    // An immediate without a reference does not keep the loop awake: it runs after each wake.
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
    const isDue = leftUs <= (isSparse || us > 0 ? 0 : -overdueUs)
    // The wake-up has put the timer off by up to a millisecond.
    const isPutOff = isSparse && leftUs >= napWithinUs && leftUs < longestSleepMs * 1000
    if (isDue || isPutOff) clearTimeout(timer)
    if (isDue) {
      turn()
      return
    }
    if (isPutOff) aim(leftUs, now())
    watch(leftUs)
  }
  /** Naps, unless the last turn of the loop read a response: more may have arrived. */
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
      // After each tick, `rest` looks anyway.
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
      // A busy loop, because an immediate for each reading of the clock creates garbage: the collector
      // stopped the thread twenty times a second.
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
