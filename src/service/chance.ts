import type { Random } from './random.ts'

/** Something that a fault may befall: drawn once for each fault, so that all its parts agree. */
export class Chance {
  readonly #random: Random
  #struck: Map<object, boolean> | null = null

  constructor(random: Random) {
    this.#random = random
  }

  struckBy(fault: object, probability: number): boolean {
    this.#struck ??= new Map()
    let struck = this.#struck.get(fault)
    if (struck === undefined) {
      struck = this.#random() < probability
      this.#struck.set(fault, struck)
    }
    return struck
  }
}
