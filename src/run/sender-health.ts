import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import type { HealthRow } from '../store/recorder.ts'
import { Counts } from './counts.ts'

const beatMs = 5

/**
 * Watches how well a sending thread keeps up with itself: a timer beats, and how late each beat is
 * tells how long the event loop was held.
 */
export class SenderHealth {
  private readonly now: () => number
  private readonly timer: NodeJS.Timeout
  private readonly delays = new Counts()
  private readonly allDelays = new Counts()
  private readonly first: EventLoopUtilization = performance.eventLoopUtilization()
  private last: EventLoopUtilization = this.first
  private beatUs: number
  private gapUs = 0
  private gapEndUs: number | null = null

  /** @param now microseconds since the run began */
  constructor(now: () => number) {
    this.now = now
    this.beatUs = now()
    this.timer = setInterval(() => this.beat(), beatMs)
  }

  /** What happened since the last call, beside what the sender knows. */
  take(
    known: Omit<HealthRow, 'loopDelayP99Us' | 'loopGapUs' | 'loopGapEndUs' | 'utilisation'>,
  ): HealthRow {
    const utilisation = performance.eventLoopUtilization(this.last).utilization
    this.last = performance.eventLoopUtilization()
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

  /** Over the whole life of the thread. */
  whole(): { readonly loopDelayP99Us: number; readonly utilisation: number } {
    return {
      loopDelayP99Us: this.allDelays.percentile(99) ?? 0,
      utilisation: performance.eventLoopUtilization(this.first).utilization,
    }
  }

  stop(): void {
    clearInterval(this.timer)
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
