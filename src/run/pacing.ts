/**
 * Calls `tick` whenever something is due. Lateness is not hidden: a row says when it was meant to
 * go and when it went.
 *
 *     timer     sleeps until the next is due, at least 1 ms, and sends all that came due since
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

export function pace(paced: Paced, pacing: 'timer' | 'precise', now: () => number): () => void {
  let stopped = false
  let timer: NodeJS.Timeout | null = null
  let immediate: NodeJS.Immediate | null = null
  const turn = (): void => {
    if (stopped) return
    paced.tick()
    if (stopped) return
    const waitUs = paced.nextUs - now()
    if (pacing === 'precise' && waitUs < spinWithinUs) {
      immediate = setImmediate(turn)
      return
    }
    const aheadUs = pacing === 'precise' ? spinWithinUs : 0
    const sleepMs = Math.min(longestSleepMs, Math.floor((waitUs - aheadUs) / 1000))
    timer = setTimeout(turn, Math.max(1, sleepMs))
  }
  turn()
  return () => {
    stopped = true
    if (timer !== null) clearTimeout(timer)
    if (immediate !== null) clearImmediate(immediate)
  }
}
