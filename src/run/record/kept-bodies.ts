import type { BodyRow } from '../../attempt/evidence.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { CaptureChoice } from '../../client/row/attempt-context.ts'
import type { Capture } from '../../scenario/scenario.ts'
import type { Flight } from '../send/flight.ts'

/** `capture: sample` keeps one success in `sampleEvery`, and `sampleFailures` failures of each kind. */
const sampleEvery = 100
const sampleFailures = 20

/** Characters after which a thread sends its captures, and unwritten ones after which it drops more. */
const mostWaiting = 1 << 20
const mostUnwritten = 32 << 20
/** Headers are part of their rows, of which the recorder holds 2,048 in memory. */
const longestHead = 16 * 1024

export const charactersOf = ({ headers, body }: Pick<BodyRow, 'headers' | 'body'>) =>
  headers.length + body.length

/** Chooses the bodies that a thread captures, and holds them until the recorder gets them. */
export class KeptBodies {
  /** Captures that were dropped, because the recorder fell behind or the headers were too long. */
  givenUp = 0
  private bodies: BodyRow[] = []
  /** Characters of bodies that wait here, and of those sent but not written yet. */
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

  /** What to capture of a flight that begins now. A conversation needs its responses to continue, a check theirs to judge. */
  choiceFor(flight: Flight): CaptureChoice {
    flight.sampled = this.capture === 'sample' && this.started++ % sampleEvery === 0
    if (this.capture === 'all' || flight.conversation !== null || flight.sampled) return 'always'
    if (flight.plan.examines) return 'raw'
    return this.capture === 'none' ? 'never' : 'errors'
  }

  /** Keeps a capture, if the scenario wants it. @returns whether it is kept */
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

  /** Whether the bodies must be sent at once, however few the rows. */
  get isFull(): boolean {
    return this.waiting > mostWaiting
  }

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
