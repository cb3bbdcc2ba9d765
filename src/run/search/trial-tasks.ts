import type { TaskOutcome } from '../../attempt/outcome.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { Flight } from '../send/flight.ts'
import { resetAtUs } from './reset.ts'
import {
  laterOf,
  lateUs,
  partOf,
  rateLimited,
  type TrialCounting,
  type TrialCounts,
  untilUs,
  zeros,
} from './trial-counts.ts'

/** How a task of a trial ended. */
export interface EndedTask {
  readonly outcome: TaskOutcome
  /** Whether this client could not send a request of it. */
  readonly isRefused: boolean
  /** From its planned start. */
  readonly tookUs: number
}

/**
 * Counts whole tasks, in the order of their index. A task is good if it succeeded in time and each of its requests was
 * good. One that is known to miss counts as overdue until it ends.
 */
export class TaskTrialCounter implements TrialCounting {
  private readonly tasks: number
  private readonly slotBase: number
  private readonly stride: number
  private readonly withinUs: number
  /** By index, the planned start of those that run. */
  private readonly running = new Map<number, number>()
  /** Indexes of tasks with a request that was not good, and of those that were good. */
  private readonly spoilt = new Set<number>()
  private readonly good = new Set<number>()
  /** Indexes of tasks with a request of which it is not known whether it was good. */
  private readonly open = new Set<number>()
  private unknown = 0
  private sent = 0
  private notSent = 0
  private late = 0
  private limited = 0
  private resetAtUs = Number.NaN
  private tookUs = 0
  private readonly judged = zeros()
  private readonly missed = zeros()
  private readonly logUs = zeros()

  /** @param tasks of the plan @param withinUs null if they only have to succeed */
  constructor(
    tasks: number,
    { slotBase }: { readonly slotBase: number },
    stride: number,
    withinUs: number | null,
  ) {
    this.tasks = tasks
    this.slotBase = slotBase
    this.stride = stride
    this.withinUs = withinUs ?? Infinity
  }

  began(index: number, startUs: number): void {
    this.sent++
    this.running.set(index, startUs)
  }

  over(index: number, { outcome, isRefused, tookUs }: EndedTask): void {
    this.running.delete(index)
    if (isRefused) {
      this.sent--
      this.notSent++
    }
    if (isRefused || outcome === 'stopped') return
    const part = partOf(index, this.tasks)
    const isGood = outcome === 'ok' && tookUs <= this.withinUs && !this.spoilt.has(index)
    if (isGood && this.open.has(index)) {
      this.unknown++
      return
    }
    this.judged[part]!++
    if (isGood) this.good.add(index)
    else this.missed[part]!++
    this.logUs[part]! += Math.log(Math.max(1, tookUs))
    this.tookUs += tookUs
  }

  started(lagUs: number): void {
    if (lagUs > lateUs) this.late++
  }

  /** Its task says so when it ends. */
  refused(): void {}

  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void {
    // A failure that is not repeated makes its task fail.
    if (attempt.outcome === 'ok' && judged > good) this.spoilt.add(this.indexOf(flight.slot))
    if (attempt.status !== rateLimited) return
    this.limited++
    this.resetAtUs = laterOf(this.resetAtUs, resetAtUs(attempt))
  }

  undecided(flight: Flight): void {
    this.open.add(this.indexOf(flight.slot))
  }

  disappointed(slot: number): void {
    const index = this.indexOf(slot)
    this.spoilt.add(index)
    if (this.good.delete(index)) this.missed[partOf(index, this.tasks)]!++
  }

  counts(_: Iterable<Flight>, nowUs: number): TrialCounts {
    let overdue = 0
    for (const [index, startUs] of this.running) {
      if (nowUs - startUs > this.withinUs || this.spoilt.has(index)) overdue++
    }
    const { sent, notSent, late, limited, tookUs: serviceUs } = this
    const { judged, missed, logUs } = this
    return {
      sent,
      notSent,
      late,
      inFlight: this.running.size,
      overdue,
      limited,
      serviceUs,
      resetUs: untilUs(this.resetAtUs, nowUs),
      judged: [...judged],
      missed: [...missed],
      logUs: [...logUs],
      unknown: this.unknown,
    }
  }

  private indexOf(slot: number): number {
    return Math.floor((slot - this.slotBase) / this.stride)
  }
}
