import type { Check } from '../../report/banner.ts'
import { formatDuration } from '../../report/format.ts'
import type { Progress } from '../../run/count/progress.ts'
import { lagBoundUs } from '../../run/judge/client-tests.ts'
import { milliseconds } from '../../run/judge/run-test.ts'
import { largest } from '../../user/extremes.ts'

/** A lag is an alarm until this many microseconds after it. */
const alarmUs = 10e6

/** Watches how late this client sends: a late request makes the service look slow, or its load too light. */
export class LagWatch {
  private greatestUs = 0
  private greatestAtUs = 0
  private lastAtUs = -Infinity
  private boundUs = 0

  add({ atUs, steps, health }: Progress): void {
    const medians = steps.flatMap(({ responseUs, ttftUs }) =>
      [responseUs, ttftUs].flatMap((times) => (times === null ? [] : [{ us: times.p50 }])),
    )
    this.boundUs = lagBoundUs(medians)
    const lagUs = largest(
      health.map(({ lagP99Us }) => lagP99Us ?? 0),
      0,
    )
    if (lagUs < this.boundUs) return
    this.lastAtUs = atUs
    if (lagUs <= this.greatestUs) return
    this.greatestUs = lagUs
    this.greatestAtUs = atUs
  }

  /** Whether a thread was late in the last ten seconds. */
  isAlarm(atUs: number): boolean {
    return atUs - this.lastAtUs < alarmUs
  }

  /** The greatest lag so far; empty if no second was over the bound. */
  checks(): readonly Check[] {
    if (this.greatestUs === 0) return []
    return [
      {
        tone: 'warn',
        name: 'This client sends late:',
        figure: `lag up to ${milliseconds(this.greatestUs)}, ${formatDuration(this.greatestAtUs / 1e6)} after the start; at most ${milliseconds(this.boundUs)} is harmless`,
        remedy: 'Give the sender its own core, add threads, or lower the rate.',
      },
    ]
  }
}
