/** Reads of one poll after which the clock is read again: else bytes that arrive meanwhile are stamped too early. */
const freshEvery = 256

/**
 * The latest time at which the bytes being read can have arrived. The event loop asks the kernel once which
 * sockets have bytes, and then reads one after another:
 *
 *     poll ─▶ read ─▶ read ─▶ read … ─▶ immediates ─▶ timers ─▶ poll
 *          └── one time for all three
 *
 * A stamp at each read would count our own work on the earlier reads as time of the service.
 */
export class PollTime {
  private readonly now: () => number
  private atUs = Number.NaN
  private reads = 0
  private readonly onReadAll = (): void => {
    this.reads = 0
  }

  constructor(now: () => number) {
    this.now = now
  }

  /** The time of a read, to be called first in it; not before `sentUs`, when the request was sent. */
  of(sentUs: number): number {
    // An immediate without a reference does not keep the loop awake: it runs once all sockets are read.
    if (this.reads === 0) setImmediate(this.onReadAll).unref()
    if (this.reads++ % freshEvery === 0) this.atUs = this.now()
    return sentUs > this.atUs ? this.now() : this.atUs
  }
}
