import type { Attempt } from '../../client/row/attempt.ts'
import type { Limit } from '../../measure/limit.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import { partsOfTrial } from '../../schedule/safe-rate/trial.ts'
import { largest } from '../../user/extremes.ts'
import type { Flight } from '../send/flight.ts'
import { resetAtUs } from './reset.ts'

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
  /** Sum of the service times of the judged requests, in microseconds. */
  readonly serviceUs: number
  readonly judged: readonly number[]
  readonly missed: readonly number[]
  readonly logUs: readonly number[]
  /** Successes, or tasks, of which it is not known whether they are good; they are not among the judged. */
  readonly unknown: number
}

export const lateUs = 1e6
export const rateLimited = 429
export const zeros = () => new Array<number>(partsOfTrial).fill(0)

/** The part of a trial that an index falls into. @param all that the trial plans; those above count in the last part */
export const partOf = (index: number, all: number) =>
  Math.min(partsOfTrial - 1, Math.floor((index * partsOfTrial) / all))

/** What a sending thread tells a trial. */
export interface TrialCounting {
  started(lagUs: number): void
  /** @param isStarted whether it was counted as sent, and then found no connection */
  refused(isStarted: boolean): void
  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void
  /** A request succeeded of which it is not known whether it is good. */
  undecided(flight: Flight): void
  /** An answer that was counted as good is not. */
  disappointed(slot: number): void
  /** @param flights those in flight of this trial */
  counts(flights: Iterable<Flight>, nowUs: number): TrialCounts
}

/** Counts the requests of a trial in the order of their index, so that groups of neighbours can be compared. */
export class TrialCounter implements TrialCounting {
  private readonly requests: number
  private readonly slotBase: number
  private readonly stride: number
  private readonly objectives: Objectives
  private sent = 0
  private notSent = 0
  private late = 0
  private limited = 0
  private resetAtUs = Number.NaN
  private serviceUs = 0
  private unknown = 0
  private readonly judged = zeros()
  private readonly missed = zeros()
  private readonly logUs = zeros()

  /** @param requests of the plan; indexes above it count in the last part */
  constructor(
    requests: number,
    { slotBase }: { readonly slotBase: number },
    stride: number,
    objectives: Objectives,
  ) {
    this.requests = requests
    this.slotBase = slotBase
    this.stride = stride
    this.objectives = objectives
  }

  started(lagUs: number): void {
    this.sent++
    if (lagUs > lateUs) this.late++
  }

  refused(isStarted: boolean): void {
    if (isStarted) this.sent--
    this.notSent++
  }

  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void {
    if (judged === 0) return
    const part = this.partOf(flight.slot)
    const beganUs = Number.isNaN(attempt.sentUs) ? attempt.dispatchedUs : attempt.sentUs
    const { firstContentUs, endedUs } = attempt
    const byFirst = this.objectives.ttftUs !== null && !Number.isNaN(firstContentUs)
    this.judged[part]! += judged
    this.missed[part]! += judged - good
    this.logUs[part]! += Math.log(Math.max(1, (byFirst ? firstContentUs : endedUs) - beganUs))
    this.serviceUs += endedUs - beganUs
    if (attempt.status !== rateLimited) return
    this.limited++
    this.resetAtUs = laterOf(this.resetAtUs, resetAtUs(attempt))
  }

  undecided(_: Flight): void {
    this.unknown++
  }

  disappointed(slot: number): void {
    this.missed[this.partOf(slot)]!++
  }

  private partOf(slot: number): number {
    return partOf(Math.floor((slot - this.slotBase) / this.stride), this.requests)
  }

  counts(flights: Iterable<Flight>, nowUs: number): TrialCounts {
    let [inFlight, overdue] = [0, 0]
    for (const flight of flights) {
      inFlight++
      if (this.isOverdue(flight, nowUs)) overdue++
    }
    const { sent, notSent, late, limited, serviceUs } = this
    const { judged, missed, logUs } = this
    return {
      sent,
      notSent,
      late,
      inFlight,
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

  /** A request that is older than its bound has missed it, before its answer comes. */
  private isOverdue(flight: Flight, nowUs: number): boolean {
    const { ttftUs, serviceUs, responseUs } = this.objectives
    const { running, request, intendedUs, hasContent } = flight
    if (running === null) return false
    const ageUs = nowUs - running.dispatchedUs
    return (
      ageUs > boundOf(serviceUs) ||
      nowUs - intendedUs > boundOf(responseUs) ||
      (request.streamed && !hasContent && ageUs > boundOf(ttftUs))
    )
  }
}

/** How old a request may grow. Before its answer it is not known how many tokens it has, so its own limit bounds nothing. */
const boundOf = (limit: Limit | null) => (typeof limit === 'number' ? limit : Infinity)

/** The sum of the counts of several threads or machines. */
export function sumOfTrials(all: readonly TrialCounts[]): TrialCounts {
  const sum = (of: (counts: TrialCounts) => number) =>
    all.reduce((total, counts) => total + of(counts), 0)
  const parts = (of: 'judged' | 'missed' | 'logUs') =>
    zeros().map((_, part) => sum((counts) => counts[of][part]!))
  return {
    sent: sum(({ sent }) => sent),
    notSent: sum(({ notSent }) => notSent),
    late: sum(({ late }) => late),
    inFlight: sum(({ inFlight }) => inFlight),
    overdue: sum(({ overdue }) => overdue),
    limited: sum(({ limited }) => limited),
    resetUs: longest(all.map(({ resetUs }) => resetUs)),
    serviceUs: sum(({ serviceUs }) => serviceUs),
    judged: parts('judged'),
    missed: parts('missed'),
    logUs: parts('logUs'),
    unknown: sum(({ unknown }) => unknown),
  }
}

/** The later of two moments, of which each may be NaN. */
export const laterOf = (one: number, other: number) =>
  Number.isNaN(one) || other > one ? other : one

/** The time until a moment, which may be past; null for NaN. */
export const untilUs = (atUs: number, nowUs: number) =>
  Number.isNaN(atUs) ? null : Math.max(0, atUs - nowUs)

/** The longest of the waits that are known. */
export function longest(waits: readonly (number | null)[]): number | null {
  const known = waits.filter((wait) => wait !== null)
  return known.length === 0 ? null : largest(known)
}

export const total = (parts: readonly number[]) => parts.reduce((sum, part) => sum + part, 0)
