import { countBelow } from '../../../user/count-below.ts'

/** What is summed over the attempts of an account. */
export const sentSums = [
  /** Successes, and their price. */
  ...['requests', 'credits'],
  /** Successful reads that cost credits, and their price. */
  ...['reads', 'readCredits'],
  /** Successful reads with a price that nothing shows. */
  'openReads',
  /** Requests that may have been charged although they failed, or were free although they succeeded. */
  'ambiguous',
  /** Successes without a token, which may be free (gap G-16), or whose cost the contract does not have. */
  'openCosts',
  /** Requests that were answered with an error, which a service may count. */
  'refused',
] as const
type SentSum = (typeof sentSums)[number]

export type SentBetween = Readonly<Record<Exclude<SentSum, 'ambiguous' | 'openCosts'>, number>>

/** A request and its response, in microseconds of the run's time. */
export interface Moment {
  readonly sentUs: number
  readonly closedUs: number | null
}

export type Moments = readonly [earlier: Moment, later: Moment]

/** What an account sent by each of the times that decide what it sent between two responses. */
export class SentByMoment {
  readonly #timesUs: Float64Array
  readonly #sums: readonly Float64Array[]
  /** When the last of the successes ended that were sent by then. */
  readonly #latestEndUs: Float64Array

  constructor(pairs: readonly Moments[]) {
    const timesUs = new Set(pairs.flatMap((pair) => Object.values(timesOf(pair))))
    this.#timesUs = Float64Array.from(timesUs).sort()
    this.#sums = sentSums.map(() => new Float64Array(timesUs.size))
    this.#latestEndUs = new Float64Array(timesUs.size).fill(-Infinity)
  }

  /** Adds an attempt, in any order. `values` are columns in the order of the sums. */
  add(sentUs: number, endUs: number, values: readonly Float64Array[], row: number): void {
    const at = countBelow(this.#timesUs, sentUs)
    if (at === this.#timesUs.length) return
    for (let nth = 0; nth < sentSums.length; nth++) this.#sums[nth]![at]! += values[nth]![row]!
    if (values[sentSums.indexOf('requests')]![row]! > 0)
      this.#latestEndUs[at] = Math.max(this.#latestEndUs[at]!, endUs)
  }

  /** Once all are added: each time takes what was sent by the time before it, too. */
  accumulate(): void {
    for (let at = 1; at < this.#timesUs.length; at++) {
      for (const sums of this.#sums) sums[at]! += sums[at - 1]!
      this.#latestEndUs[at] = Math.max(this.#latestEndUs[at]!, this.#latestEndUs[at - 1]!)
    }
  }

  /** What was sent between two responses; null if something is ambiguous, or a success was in flight with one of them. */
  between(pair: Moments): SentBetween | null {
    const { beforeUs, fromUs, fromEndUs, beforeToUs, toUs, beforeEndUs, endUs } = timesOf(pair)
    const by = (sum: SentSum, us: number) =>
      this.#sums[sentSums.indexOf(sum)]![countBelow(this.#timesUs, us)]!
    const within = (sum: SentSum, afterUs: number, byUs: number) => by(sum, byUs) - by(sum, afterUs)
    const isInFlight =
      within('requests', beforeUs, fromEndUs) > 0 ||
      this.#latestEndUs[countBelow(this.#timesUs, fromUs)]! >= fromUs ||
      this.#latestEndUs[countBelow(this.#timesUs, beforeEndUs)]! >= toUs
    if (isInFlight || by('ambiguous', beforeToUs) > 0 || within('openCosts', beforeUs, endUs) > 0)
      return null
    return {
      requests: within('requests', fromEndUs, beforeToUs),
      credits: within('credits', fromEndUs, beforeToUs),
      // One of the two responses includes its own price, whether charged before or after it was made.
      reads: within('reads', fromUs, toUs),
      readCredits: within('readCredits', fromUs, toUs),
      openReads: within('openReads', fromUs, toUs),
      refused: within('refused', fromUs, toUs),
    }
  }
}

/** Times are whole microseconds, so "before" is one less. */
function timesOf([earlier, later]: Moments) {
  const endUs = later.closedUs ?? later.sentUs
  return {
    beforeUs: earlier.sentUs - 1,
    fromUs: earlier.sentUs,
    fromEndUs: earlier.closedUs ?? earlier.sentUs,
    beforeToUs: later.sentUs - 1,
    toUs: later.sentUs,
    beforeEndUs: endUs - 1,
    endUs,
  }
}
