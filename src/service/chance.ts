import type { Random } from './random.ts'

/** Something that faults can strike. Each fault draws once for it, so that all its parts agree. */
export class Chance {
  readonly #random: Random
  #struck: Map<object, boolean> | null = null

  constructor(random: Random) {
    this.#random = random
  }

  /** @param draws whether the fault strikes; called once for each fault */
  struckBy(fault: object, draws: (random: Random) => boolean): boolean {
    this.#struck ??= new Map()
    let struck = this.#struck.get(fault)
    if (struck === undefined) {
      struck = draws(this.#random)
      this.#struck.set(fault, struck)
    }
    return struck
  }
}
