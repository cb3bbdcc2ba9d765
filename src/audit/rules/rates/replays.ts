import type { LimiterTrace } from '../../../limits/models/model.ts'

/** Traces that are replayed however long they are. */
const leastTraces = 24

/** Most requests of all traces that are replayed beside those. The models take less than 0.1 ms for each of them, whatever its key. */
export const mostReplayed = 150_000

/** Counts traces that are replayed through the models of limiters: the first, and others up to so many requests together. */
export class Replays {
  #left = mostReplayed
  #all = 0
  #taken = 0

  /** Whether this trace is replayed, too. A shorter one after it may be. */
  takes({ requests: { length } }: Pick<LimiterTrace, 'requests'>): boolean {
    this.#all++
    if (this.#taken >= leastTraces) {
      if (length > this.#left) return false
      this.#left -= length
    }
    this.#taken++
    return true
  }

  /** `only 24 of 60 keys with rejections were replayed`: the note of a pass; null if all were. */
  note(what: string): string | null {
    return this.#taken === this.#all
      ? null
      : `only ${this.#taken} of ${this.#all} ${what} were replayed`
  }
}
