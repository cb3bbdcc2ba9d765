import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { HealthRow } from '../store/recorder.ts'

const resolutionMs = 5

/** Watches how well a sending thread keeps up with itself. */
export class SenderHealth {
  private readonly delay = monitorEventLoopDelay({ resolution: resolutionMs })
  private last: EventLoopUtilization = performance.eventLoopUtilization()

  constructor() {
    this.delay.enable()
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
    const p99Ns = this.delay.percentile(99)
    this.delay.reset()
    const { lags, ...row } = at
    lags.sort((a, b) => a - b)
    return {
      ...row,
      atUs: Math.round(at.atUs),
      // The monitor's own interval is part of what it reports.
      loopDelayP99Us: Math.max(0, p99Ns / 1000 - resolutionMs * 1000),
      utilisation,
      lagP99Us: lags.length === 0 ? null : lags[Math.ceil(lags.length * 0.99) - 1]!,
    }
  }

  stop(): void {
    this.delay.disable()
  }
}
