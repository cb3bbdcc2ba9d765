import type { Attempt } from '../../client/row/attempt.ts'
import type { Limit } from '../../measure/limit.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import { partsOfTrial } from '../../schedule/safe-rate/trial.ts'
import { largest } from '../../user/extremes.ts'
import type { Flight } from '../send/flight.ts'
import { partOf, type TrialCounts, TrialSums } from './trial-sums.ts'

/** What a sending thread tells a trial. */
export interface TrialCounting {
  started(lagUs: number): void
  /** @param isStarted whether it was counted as sent, and then found no connection */
  refused(isStarted: boolean): void
  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void
  /** A request succeeded of which it is not known whether it is good. */
  undecided(flight: Flight, attempt: Attempt): void
  /** An answer that was counted as good, or as undecided, is not good. */
  disappointed(slot: number): void
  /** @param flights those in flight of this trial */
  counts(flights: Iterable<Flight>, nowUs: number): TrialCounts
}

/** The service time of a request, and the time that an objective bounds first: to its first content, or the same. */
interface Times {
  readonly tookUs: number
  readonly shownUs: number
}

/** Counts the requests of a trial in the order of their index, so that groups of neighbours can be compared. */
export class TrialCounter implements TrialCounting {
  private readonly requests: number
  private readonly slotBase: number
  private readonly stride: number
  private readonly objectives: Objectives
  /** By slot, the undecided requests with their times. */
  private readonly unknown = new Map<number, Times>()
  private readonly sums = new TrialSums()

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
    this.sums.sent++
    this.sums.addLate(lagUs)
  }

  refused(isStarted: boolean): void {
    if (isStarted) this.sums.sent--
    this.sums.notSent++
  }

  ended(flight: Flight, attempt: Attempt, judged: number, good: number): void {
    if (judged === 0) return
    const { tookUs, shownUs } = this.timesOf(attempt)
    this.sums.judge(this.partOf(flight.slot), good > 0, tookUs, shownUs)
    this.sums.addLimited(attempt)
  }

  undecided({ slot }: Flight, attempt: Attempt): void {
    this.sums.unknown++
    this.unknown.set(slot, this.timesOf(attempt))
  }

  disappointed(slot: number): void {
    const { sums, unknown } = this
    const part = this.partOf(slot)
    const times = unknown.get(slot)
    if (times === undefined) {
      sums.missed[part]!++
      return
    }
    unknown.delete(slot)
    sums.unknown--
    sums.judge(part, false, times.tookUs, times.shownUs)
  }

  private timesOf({ sentUs, dispatchedUs, firstContentUs, endedUs }: Attempt): Times {
    const beganUs = Number.isNaN(sentUs) ? dispatchedUs : sentUs
    const byFirst = this.objectives.ttftUs !== null && !Number.isNaN(firstContentUs)
    return {
      tookUs: endedUs - beganUs,
      shownUs: (byFirst ? firstContentUs : endedUs) - beganUs,
    }
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
    return this.sums.counts(inFlight, overdue, nowUs)
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
    Array.from({ length: partsOfTrial }, (_, part) => sum((counts) => counts[of][part]!))
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

/** The longest of the waits that are known. */
export function longest(waits: readonly (number | null)[]): number | null {
  const known = waits.filter((wait) => wait !== null)
  return known.length === 0 ? null : largest(known)
}

export const total = (parts: readonly number[]) => parts.reduce((sum, part) => sum + part, 0)
