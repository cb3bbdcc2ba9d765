import type { SharedNumbers } from '../crew/shared.ts'
import type { Flight } from '../send/flight.ts'
import type { RunMoney } from './run-money.ts'

/** What requests in flight can cost at most, set aside from the bounds of the run. */
export class Reservations {
  private readonly shared: SharedNumbers
  private readonly money: RunMoney | null

  constructor(shared: SharedNumbers, money: RunMoney | null) {
    this.shared = shared
    this.money = money
  }

  /** Sets aside the credits and the money of a request. @returns false if a bound does not allow it */
  reserve(flight: Flight): boolean {
    const { price } = flight
    if (!this.shared.reserve(price)) return false
    flight.credits = price
    const reserved = this.money === null ? 0n : this.money.reserve(flight)
    if (reserved === null) {
      this.shared.release(price)
      return false
    }
    flight.reserved = reserved
    return true
  }

  /** Gives back what was set aside for a request that was not sent. */
  release(flight: Flight): void {
    this.shared.release(flight.credits)
    this.money?.release(flight)
  }
}
