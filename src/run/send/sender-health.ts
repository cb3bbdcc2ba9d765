import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import type { HealthRow } from '../../store/attempts/recorder.ts'
import { TimeHistogram } from '../count/time-histogram.ts'

const beatMs = 5

interface LoopTimes {
  readonly loop: EventLoopUtilization
  readonly nappedUs: number
}

/**
 * Watches the event loop of a sending thread: the lateness of a regular timer shows how long the loop was
 * blocked.
 */
export class SenderHealth {
  private readonly now: () => number
  private readonly timer: NodeJS.Timeout
  private readonly delays = new TimeHistogram()
  private readonly allDelays = new TimeHistogram()
  private readonly nappedUs: () => number
  private readonly first: LoopTimes
  private last: LoopTimes
  private beatUs: number
  private gapUs = 0
  private gapEndUs: number | null = null

  /**
   * @param now microseconds since the run began
   * @param nappedUs total time that the thread has slept outside of the event loop
   */
  constructor(now: () => number, nappedUs: () => number) {
    this.now = now
    this.nappedUs = nappedUs
    this.first = { loop: performance.eventLoopUtilization(), nappedUs: 0 }
    this.last = this.first
    this.beatUs = now()
    this.timer = setInterval(() => this.beat(), beatMs)
  }

  /** Health since the last call. @param known the columns that the sender knows */
  take(
    known: Omit<HealthRow, 'loopDelayP99Us' | 'loopGapUs' | 'loopGapEndUs' | 'utilisation'>,
  ): HealthRow {
    const utilisation = this.utilisationSince(this.last)
    this.last = { loop: performance.eventLoopUtilization(), nappedUs: this.nappedUs() }
    const row: HealthRow = {
      ...known,
      atUs: Math.round(known.atUs),
      loopDelayP99Us: this.delays.percentile(99) ?? 0,
      loopGapUs: this.gapUs,
      loopGapEndUs: this.gapEndUs,
      utilisation,
    }
    this.delays.take()
    this.gapUs = 0
    this.gapEndUs = null
    return row
  }

  /** Health over the whole life of the thread. */
  whole(): { readonly loopDelayP99Us: number; readonly utilisation: number } {
    return {
      loopDelayP99Us: this.allDelays.percentile(99) ?? 0,
      utilisation: this.utilisationSince(this.first),
    }
  }

  stop(): void {
    clearInterval(this.timer)
  }

  /** The event loop counts naps as work, so they are subtracted. */
  private utilisationSince({ loop, nappedUs }: LoopTimes): number {
    const { active, idle } = performance.eventLoopUtilization(loop)
    const napMs = (this.nappedUs() - nappedUs) / 1000
    return active + idle > 0 ? Math.max(0, (active - napMs) / (active + idle)) : 0
  }

  private beat(): void {
    const nowUs = this.now()
    const delayUs = Math.max(0, nowUs - this.beatUs - beatMs * 1000)
    this.beatUs = nowUs
    this.delays.record(delayUs)
    this.allDelays.record(delayUs)
    if (delayUs <= this.gapUs) return
    this.gapUs = delayUs
    this.gapEndUs = Math.round(nowUs)
  }
}
