import type { TargetName } from '../../scenario/scenario.ts'
import type { RandomStream } from '../../schedule/random.ts'
import type { Arrivals } from './phase-arrivals.ts'

/** So much later the second of a pair is sent: longer than a timer is late, shorter than a service changes in. */
export const secondAfterUs = 2_000

/** The plan of one of two targets: of each pair of requests, a coin decides which target gets its own first. */
export class TurnsOfTarget implements Arrivals {
  private readonly plan: Arrivals
  private readonly target: TargetName
  private readonly coins: RandomStream

  /** @param coins the same for both targets */
  constructor(plan: Arrivals, target: TargetName, coins: RandomStream) {
    this.plan = plan
    this.target = target
    this.coins = coins
  }

  get index(): number {
    return this.plan.index
  }

  get atUs(): number {
    const { index, atUs } = this.plan
    if (index < 0) return atUs
    const first: TargetName = this.coins.at(index) < 0.5 ? 'a' : 'b'
    return first === this.target ? atUs : atUs + secondAfterUs
  }

  advance(to?: number): boolean {
    return this.plan.advance(to)
  }

  finish(): void {
    this.plan.finish()
  }
}
