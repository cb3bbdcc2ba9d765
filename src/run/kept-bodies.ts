import type { BodyRow } from '../attempt/evidence.ts'
import type { Attempt, CaptureChoice } from '../client/attempt.ts'
import type { Capture } from '../scenario/scenario.ts'
import type { Flight } from './flight.ts'

/** Of successes, one in so many is captured by `capture: sample`; of failures, so many of a kind. */
const sampleEvery = 100
const sampleFailures = 20

/** Which bodies a thread captures, and those that wait to be handed over. */
export class KeptBodies {
  private bodies: BodyRow[] = []
  private readonly runId: string
  private readonly capture: Capture
  private readonly failuresKept = new Map<string, number>()
  private started = 0

  constructor(runId: string, capture: Capture) {
    this.runId = runId
    this.capture = capture
  }

  /** What to capture of a flight that begins now. A conversation needs its answers to go on. */
  choiceFor(flight: Flight): CaptureChoice {
    flight.sampled = this.capture === 'sample' && this.started++ % sampleEvery === 0
    if (this.capture === 'all' || flight.conversation !== null || flight.sampled) return 'always'
    return this.capture === 'none' ? 'never' : 'errors'
  }

  /** Keeps what was captured, where the scenario wants it. @returns whether it is kept */
  keep(flight: Flight, attempt: Attempt): boolean {
    const { captured } = attempt
    if (captured === null || this.capture === 'none') return false
    if (this.capture === 'sample' && !this.isSampled(flight, attempt)) return false
    this.bodies.push({ runId: this.runId, slot: flight.slot, retry: flight.retry, ...captured })
    return true
  }

  take(): readonly BodyRow[] {
    const taken = this.bodies
    this.bodies = []
    return taken
  }

  private isSampled(flight: Flight, attempt: Attempt): boolean {
    if (attempt.outcome === 'ok') return flight.sampled
    const kind = `${flight.plan.index} ${attempt.outcome} ${attempt.status} ${attempt.reason}`
    const kept = this.failuresKept.get(kind) ?? 0
    if (kept >= sampleFailures) return false
    this.failuresKept.set(kind, kept + 1)
    return true
  }
}
