import type { Percentiles, Progress } from '../run/tally.ts'
import { duration, table } from './text.ts'

/** How often a line is written where there is no terminal. */
const lineEveryMs = 5000

/**
 * Shows a run while it goes, on stderr: a block that is drawn again on a terminal, a line now and
 * then elsewhere. It is drawn from counters only.
 */
export class LiveView {
  private readonly out: NodeJS.WriteStream
  private drawn = 0
  private lastLineMs = 0

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.out = out
  }

  show(progress: Progress): void {
    if (this.out.isTTY) {
      const lines = blockOf(progress).map((line) => line.slice(0, this.out.columns ?? 120))
      this.clear()
      this.out.write(`${lines.join('\n')}\n`)
      this.drawn = lines.length
      return
    }
    const nowMs = progress.atUs / 1000
    if (nowMs - this.lastLineMs < lineEveryMs) return
    this.lastLineMs = nowMs
    this.out.write(`${lineOf(progress)}\n`)
  }

  /** Takes the block away, so that the summary stands in its place. */
  clear(): void {
    if (this.drawn > 0) this.out.write(`\x1b[${this.drawn}F\x1b[0J`)
    this.drawn = 0
  }
}

export function lineOf(progress: Progress): string {
  const { ledger } = progress
  const asked = progress.steps.reduce((sum, step) => sum + step.askedPerS, 0)
  const achieved = progress.steps.reduce((sum, step) => sum + step.achievedPerS, 0)
  return [
    `${(progress.atUs / 1e6).toFixed(0)} s`,
    progress.phase ?? '-',
    `${achieved.toFixed(1)}/s of ${asked.toFixed(1)}/s`,
    `${ledger.sent} sent`,
    `${ledger.ok} ok`,
    `${ledger.notSent} not sent`,
    `${progress.inFlight} in flight`,
    `${progress.creditsSpent} credits`,
  ].join(' | ')
}

/** Lines of the block. */
export function blockOf(progress: Progress): readonly string[] {
  const { ledger } = progress
  const ends = progress.endsUs === null ? '' : ` of ${duration(progress.endsUs)}`
  const triple = (times: Percentiles | null) =>
    times === null ? '-' : `${duration(times.p50)} ${duration(times.p95)} ${duration(times.p99)}`
  const rows = progress.steps.map((step) => [
    step.step,
    `${step.achievedPerS.toFixed(1)}/${step.askedPerS.toFixed(1)}`,
    String(step.sent),
    String(step.failures),
    triple(step.responseUs),
    triple(step.serviceUs),
    triple(step.ttftUs),
  ])
  const head = [
    'step',
    'got/asked per s',
    'sent',
    'failed',
    'response p50 p95 p99',
    'service',
    'TTFT',
  ]
  const keys = progress.keys
    .filter((key) => key.creditsRemaining !== null || key.rateRemaining !== null)
    .map(
      (key) =>
        `${key.name}: ${key.creditsRemaining ?? '?'} credits, ${key.rateRemaining ?? '?'} of the limit left`,
    )
  const errors = progress.errors.slice(0, 4).map(([code, count]) => `${code} ×${count}`)
  const health = progress.health.map(
    (thread) =>
      `thread ${thread.shard}: lag p99 ${thread.lagP99Us === null ? '-' : duration(thread.lagP99Us)}, loop ${duration(thread.loopDelayP99Us)}, ${(thread.utilisation * 100).toFixed(0)} % busy, ${thread.queuedBatches} batches waiting`,
  )
  return [
    `${progress.scenario}  ${progress.phase ?? ''}  ${duration(progress.atUs)}${ends}`,
    `planned ${ledger.planned}  sent ${ledger.sent}  ok ${ledger.ok}  not sent ${ledger.notSent}  in flight ${progress.inFlight}  credits spent ${progress.creditsSpent}`,
    ...table([head, ...rows]),
    ...(errors.length > 0 ? [`errors: ${errors.join(', ')}`] : []),
    ...(keys.length > 0 ? [keys.join('; ')] : []),
    ...health,
  ]
}
