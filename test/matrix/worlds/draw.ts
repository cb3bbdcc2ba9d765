import { seededRandom } from '../../../src/service/random.ts'

/** Choices of one seed: the same seed makes the same world. */
export class Draw {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1))
  }

  chance(of: number): boolean {
    return this.#random() < of
  }

  one<Value>(of: readonly Value[]): Value {
    return of[this.whole(0, of.length - 1)]!
  }

  /** @returns the value with this chance, else null */
  maybe<Value>(of: number, value: () => Value): Value | null {
    return this.chance(of) ? value() : null
  }
}
