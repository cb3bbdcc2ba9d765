import type { KeySource } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { WeightedChoice } from '../../schedule/draw.ts'

/** The keys that a step may use. */
export class KeyChoice {
  /** Indexes in the scenario's keys. */
  readonly keys: readonly number[]
  private readonly choice: WeightedChoice | null

  constructor({ keys: names }: Step, keys: readonly Pick<KeySource, 'name' | 'weight'>[]) {
    this.keys = keys.flatMap(({ name }, at) =>
      names.length === 0 || names.includes(name) ? [at] : [],
    )
    this.choice =
      this.keys.length === 0 ? null : new WeightedChoice(this.keys.map((at) => keys[at]!.weight))
  }

  /** @returns index of the key for a uniform draw; -1 if the step has no key */
  at(uniform: number): number {
    return this.choice === null ? -1 : this.keys[this.choice.pick(uniform)]!
  }
}
