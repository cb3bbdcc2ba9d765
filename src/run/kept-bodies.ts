import type { BodyRow } from '../attempt/evidence.ts'
import type { Attempt } from '../client/attempt.ts'
import type { CaptureChoice } from '../client/bench.ts'
import type { Capture } from '../scenario/scenario.ts'
import type { Flight } from './flight.ts'

/** Of successes, one in so many is captured by `capture: sample`; of failures, so many of a kind. */
const sampleEvery = 100
const sampleFailures = 20

/** Characters that a thread hands over at once, and that may be under way before captures are given up. */
const mostWaiting = 1 << 20
const mostUnwritten = 32 << 20
/** Heads lie in their rows, which the recorder's memory must hold 2,048 of. */
const longestHead = 16 * 1024

export const charactersOf = ({ headers, body }: Pick<BodyRow, 'headers' | 'body'>) =>
  headers.length + body.length

/** Which bodies a thread captures, and those that wait to be handed over. */
export class KeptBodies {
  /** Captures that were not kept, since the recorder fell behind or a head was too long. */
  givenUp = 0
  private bodies: BodyRow[] = []
  /** Characters of bodies that wait here, and of those that the recorder has not written yet. */
  private waiting = 0
  private underWay = 0
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
    const characters = charactersOf(captured)
    if (
      this.waiting + this.underWay + characters > mostUnwritten ||
      captured.headers.length > longestHead
    ) {
      this.givenUp++
      return false
    }
    this.waiting += characters
    this.bodies.push({ runId: this.runId, slot: flight.slot, retry: flight.retry, ...captured })
    return true
  }

  /** Whether so much waits that it is to be handed over, however few the rows. */
  get isFull(): boolean {
    return this.waiting > mostWaiting
  }

  /** The recorder has written so many characters of them. */
  written(characters: number): void {
    this.underWay -= characters
  }

  take(): readonly BodyRow[] {
    const taken = this.bodies
    this.bodies = []
    this.underWay += this.waiting
    this.waiting = 0
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
