import type { Check } from '../../report/banner.ts'
import { formatDuration } from '../../report/format.ts'
import type { Progress } from '../../run/count/progress.ts'
import { lagBoundUs } from '../../run/judge/client-tests.ts'
import { milliseconds } from '../../run/judge/run-test.ts'
import { largest } from '../../user/extremes.ts'

/** A lag is an alarm until this many microseconds after it. */
const alarmUs = 10e6

/** How late a thread sent in one second, when, and what was too late then: the bound moves with the times of the service. */
interface Lag {
  readonly lagUs: number
  readonly atUs: number
  readonly boundUs: number
}

/** Watches how late this client sends: a late request makes the service look slow, or its load too light. */
export class LagWatch {
  private greatest: Lag | null = null
  private lastAtUs = -Infinity

  add({ atUs, steps, health }: Progress): void {
    const medians = steps.flatMap(({ responseUs, ttftUs }) =>
      [responseUs, ttftUs].flatMap((times) => (times === null ? [] : [{ us: times.p50 }])),
    )
    const boundUs = lagBoundUs(medians)
    const lagUs = largest(
      health.map(({ lagP99Us }) => lagP99Us ?? 0),
      0,
    )
    if (lagUs < boundUs) return
    this.lastAtUs = atUs
    if (lagUs > (this.greatest?.lagUs ?? 0)) this.greatest = { lagUs, atUs, boundUs }
  }

  /** Whether a thread was late in the last ten seconds. */
  isAlarm(atUs: number): boolean {
    return atUs - this.lastAtUs < alarmUs
  }

  /** The greatest lag so far; empty if every second was below its bound. */
  checks(): readonly Check[] {
    if (this.greatest === null) return []
    const { lagUs, atUs, boundUs } = this.greatest
    return [
      {
        tone: 'warn',
        name: 'This client sends late:',
        figure: `lag up to ${milliseconds(lagUs)}, ${formatDuration(atUs / 1e6)} after the start; less than ${milliseconds(boundUs)} was harmless then`,
        remedy: 'Give the sender its own core, add threads, or lower the rate.',
      },
    ]
  }
}
