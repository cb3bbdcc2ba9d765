import type { PricedRequest } from '../../../price/judge/request.ts'
import { countWhile } from '../../../user/count-below.ts'

/** Requests in the order of their start, with when the first of them are over. */
export class RequestsByStart {
  readonly requests: readonly PricedRequest[]
  /** The latest end of a request and all before it. */
  private readonly ends: Float64Array

  constructor(requests: readonly PricedRequest[]) {
    this.requests = requests.toSorted((a, b) => a.startMs - b.startMs)
    this.ends = new Float64Array(requests.length)
    let latest = Number.NEGATIVE_INFINITY
    for (const [at, { endMs }] of this.requests.entries()) {
      latest = Math.max(latest, endMs)
      this.ends[at] = latest
    }
  }

  /** How many began before a moment. */
  begunBy(ms: number): number {
    return countWhile(this.requests.length, (at) => this.requests[at]!.startMs < ms)
  }

  /** Those that began before a moment, and ended at another or after it. It takes as long as they are many. */
  during(fromMs: number, untilMs: number): readonly PricedRequest[] {
    const found: PricedRequest[] = []
    for (let at = this.begunBy(untilMs); at > 0 && this.latestEndMs(at) >= fromMs; at--)
      if (this.requests[at - 1]!.endMs >= fromMs) found.push(this.requests[at - 1]!)
    return found.toReversed()
  }

  /** When the first so many are all over. */
  latestEndMs(count: number): number {
    return count === 0 ? Number.NEGATIVE_INFINITY : this.ends[count - 1]!
  }
}
