import type { Attempt } from '../../client/row/attempt.ts'
import { partsOfTrial } from '../../schedule/safe-rate/trial.ts'
import { resetAtUs } from './reset.ts'

const rateLimited = 429

/** Counts of a trial in one thread; plain data. Sums over threads and machines are those of the trial. */
export interface TrialCounts {
  readonly sent: number
  readonly notSent: number
  /** Sent more than a second late. */
  readonly late: number
  /** In flight, and those of them that are already older than an objective allows. */
  readonly inFlight: number
  readonly overdue: number
  /** Answers of 429. */
  readonly limited: number
  /** How long from now the last of these asks to wait; null if none names a time. */
  readonly resetUs: number | null
  /** Sum of the times of the judged, in microseconds: of a request its service time, of a task the time from its planned start. */
  readonly serviceUs: number
  readonly judged: readonly number[]
  readonly missed: readonly number[]
  readonly logUs: readonly number[]
  /** Successes, or tasks, of which it is not known whether they are good; they are not among the judged. */
  readonly unknown: number
}

const zeros = () => new Array<number>(partsOfTrial).fill(0)

/** The part of a trial that an index falls into. @param all that the trial plans; those above count in the last part */
export const partOf = (index: number, all: number) =>
  Math.min(partsOfTrial - 1, Math.floor((index * partsOfTrial) / all))

/** What a thread has counted of a trial so far, be it of requests or of tasks. */
export class TrialSums {
  sent = 0
  notSent = 0
  late = 0
  unknown = 0
  /** Times of the judged, in microseconds. */
  tookUs = 0
  readonly judged = zeros()
  readonly missed = zeros()
  readonly logUs = zeros()
  private limited = 0
  /** When the last of the limited lets the next in; NaN if none says so. */
  private resetAtUs = Number.NaN

  /** @param tookUs the time that counts for the rate @param shownUs the one that is compared between parts */
  judge(part: number, isGood: boolean, tookUs: number, shownUs = tookUs): void {
    this.judged[part]!++
    if (!isGood) this.missed[part]!++
    this.logUs[part]! += Math.log(Math.max(1, shownUs))
    this.tookUs += tookUs
  }

  addLate(lagUs: number): void {
    if (lagUs > 1e6) this.late++
  }

  addLimited(attempt: Attempt): void {
    if (attempt.status !== rateLimited) return
    this.limited++
    const atUs = resetAtUs(attempt)
    if (Number.isNaN(this.resetAtUs) || atUs > this.resetAtUs) this.resetAtUs = atUs
  }

  counts(inFlight: number, overdue: number, nowUs: number): TrialCounts {
    const { sent, notSent, late, limited, unknown, tookUs: serviceUs } = this
    return {
      ...{ sent, notSent, late, inFlight, overdue, limited, serviceUs, unknown },
      resetUs: Number.isNaN(this.resetAtUs) ? null : Math.max(0, this.resetAtUs - nowUs),
      judged: [...this.judged],
      missed: [...this.missed],
      logUs: [...this.logUs],
    }
  }
}
