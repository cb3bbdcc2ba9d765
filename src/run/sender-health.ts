import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { HealthRow } from '../store/recorder.ts'

const resolutionMs = 5

/** Watches how well a sending thread keeps up with itself. */
export class SenderHealth {
  private readonly delay = monitorEventLoopDelay({ resolution: resolutionMs })
  private readonly wholeDelay = monitorEventLoopDelay({ resolution: resolutionMs })
  private readonly first: EventLoopUtilization = performance.eventLoopUtilization()
  private last: EventLoopUtilization = performance.eventLoopUtilization()

  constructor() {
    this.delay.enable()
    this.wholeDelay.enable()
  }

  /** What happened since the last call, beside what the sender knows. */
  take(known: Omit<HealthRow, 'loopDelayP99Us' | 'utilisation'>): HealthRow {
    const utilisation = performance.eventLoopUtilization(this.last).utilization
    this.last = performance.eventLoopUtilization()
    const loopDelayP99Us = delayUs(this.delay.percentile(99))
    this.delay.reset()
    return { ...known, atUs: Math.round(known.atUs), loopDelayP99Us, utilisation }
  }

  /** Over the whole life of the thread. */
  whole(): { readonly loopDelayP99Us: number; readonly utilisation: number } {
    return {
      loopDelayP99Us: delayUs(this.wholeDelay.percentile(99)),
      utilisation: performance.eventLoopUtilization(this.first).utilization,
    }
  }

  stop(): void {
    this.delay.disable()
    this.wholeDelay.disable()
  }
}

/** The monitor's own interval is part of what it reports. */
function delayUs(ns: number): number {
  return Math.max(0, ns / 1000 - resolutionMs * 1000)
}
