import type { TaskOutcome } from '../../attempt/outcome.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { Flight } from '../send/flight.ts'
import type { TrialCounting } from './trial-counts.ts'
import { partOf, type TrialCounts, TrialSums } from './trial-sums.ts'

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
  /** Indexes of tasks with a request that was not good, and of those with one of which it is not known whether it was. */
  private readonly spoilt = new Set<number>()
  private readonly open = new Set<number>()
  /** Indexes of ended tasks that are good so far; a wrong answer is found later. */
  private readonly good = new Set<number>()
  /** Ended tasks that are neither good nor missed so far, with the time that each took. */
  private readonly unknown = new Map<number, number>()
  private readonly sums = new TrialSums()

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
    this.sums.sent++
    this.running.set(index, startUs)
  }

  over(index: number, { outcome, isRefused, tookUs }: EndedTask): void {
    const { sums } = this
    this.running.delete(index)
    if (isRefused) {
      sums.sent--
      sums.notSent++
    }
    if (isRefused || outcome === 'stopped') return
    const isGood = outcome === 'ok' && tookUs <= this.withinUs && !this.spoilt.has(index)
    if (isGood && this.open.has(index)) {
      sums.unknown++
      this.unknown.set(index, tookUs)
      return
    }
    if (isGood) this.good.add(index)
    sums.judge(partOf(index, this.tasks), isGood, tookUs)
  }

  started(lagUs: number): void {
    this.sums.addLate(lagUs)
  }

  /** Its task says so when it ends. */
  refused(): void {}

  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void {
    // A failure that is not repeated makes its task fail.
    if (attempt.outcome === 'ok' && judged > good) this.spoilt.add(this.indexOf(flight.slot))
    this.sums.addLimited(attempt)
  }

  undecided(flight: Flight): void {
    this.open.add(this.indexOf(flight.slot))
  }

  disappointed(slot: number): void {
    const { sums, unknown } = this
    const index = this.indexOf(slot)
    const part = partOf(index, this.tasks)
    this.spoilt.add(index)
    if (this.good.delete(index)) sums.missed[part]!++
    const tookUs = unknown.get(index)
    if (tookUs === undefined) return
    unknown.delete(index)
    sums.unknown--
    sums.judge(part, false, tookUs)
  }

  counts(_: Iterable<Flight>, nowUs: number): TrialCounts {
    let overdue = 0
    for (const [index, startUs] of this.running) {
      if (nowUs - startUs > this.withinUs || this.spoilt.has(index)) overdue++
    }
    return this.sums.counts(this.running.size, overdue, nowUs)
  }

  private indexOf(slot: number): number {
    return Math.floor((slot - this.slotBase) / this.stride)
  }
}
