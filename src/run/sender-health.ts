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

  /** What happened since the last call. `lags` are in microseconds, of requests sent since. */
  take(at: {
    readonly runId: string
    readonly shard: number
    readonly atUs: number
    readonly lags: number[]
    readonly inFlight: number
    readonly queuedBatches: number
  }): HealthRow {
    const utilisation = performance.eventLoopUtilization(this.last).utilization
    this.last = performance.eventLoopUtilization()
    const loopDelayP99Us = delayUs(this.delay.percentile(99))
    this.delay.reset()
    const { lags, ...row } = at
    lags.sort((a, b) => a - b)
    return {
      ...row,
      atUs: Math.round(at.atUs),
      loopDelayP99Us,
      utilisation,
      lagP99Us: lags.length === 0 ? null : lags[Math.ceil(lags.length * 0.99) - 1]!,
    }
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
