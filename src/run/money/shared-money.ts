import { readNumber } from '../../money/rational.ts'

/** Cells of a bound on money, in billionths of the currency. */
const cells = { bound: 0, settled: 1, reserved: 2, leastRefused: 3 } as const
export const moneyBytes = Object.keys(cells).length * 8

/** The smallest unit of the bound is 10^-9 of the currency; amounts are rounded up to it. */
export const boundDigits = 9
const boundless = 2n ** 62n

/** A bound that is written as a decimal, in this unit; more decimals are cut off. */
export function boundOf(text: string): bigint {
  const value = readNumber(text)!
  return (value.numerator * 10n ** BigInt(boundDigits)) / value.denominator
}

/**
 * The money of a run that all sending threads share: what ended requests cost, and what those in flight may. Requests in
 * flight count at their estimate, so the bound holds if none costs more than that.
 */
export class SharedMoney {
  private readonly cells: BigInt64Array

  constructor(buffer: SharedArrayBuffer, offset: number, isNew: boolean) {
    this.cells = new BigInt64Array(buffer, offset, Object.keys(cells).length)
    if (isNew) this.bound = boundless
  }

  get bound(): bigint {
    return Atomics.load(this.cells, cells.bound)
  }

  set bound(billionths: bigint) {
    Atomics.store(this.cells, cells.bound, billionths < boundless ? billionths : boundless)
  }

  get isBounded(): boolean {
    return this.bound < boundless
  }

  /** @returns whether the amount fits beside what is spent and reserved, and is now reserved */
  reserve(billionths: bigint): boolean {
    const before = Atomics.add(this.cells, cells.reserved, billionths)
    if (Atomics.load(this.cells, cells.settled) + before + billionths <= this.bound) return true
    Atomics.sub(this.cells, cells.reserved, billionths)
    this.refused(billionths)
    return false
  }

  /** Reserves all that is left beside what is spent and reserved. @returns it; null if nothing is left */
  reserveRest(): bigint | null {
    for (;;) {
      const reserved = Atomics.load(this.cells, cells.reserved)
      const unspent = this.bound - Atomics.load(this.cells, cells.settled)
      // Requests in flight may give back what they reserve.
      if (unspent <= 0n) this.refused(1n)
      const left = unspent - reserved
      if (left <= 0n) return null
      const seen = Atomics.compareExchange(this.cells, cells.reserved, reserved, reserved + left)
      if (seen === reserved) return left
    }
  }

  /** Ends a reservation. @param cost what the request cost */
  settle(reserved: bigint, cost: bigint): void {
    Atomics.add(this.cells, cells.settled, cost)
    Atomics.sub(this.cells, cells.reserved, reserved)
  }

  /** Whether a request was refused that what is left cannot pay, whatever those in flight turn out to cost. */
  get isSpent(): boolean {
    const least = Atomics.load(this.cells, cells.leastRefused)
    return least > 0n && Atomics.load(this.cells, cells.settled) + least > this.bound
  }

  private refused(billionths: bigint): void {
    for (;;) {
      const least = Atomics.load(this.cells, cells.leastRefused)
      if (least !== 0n && least <= billionths) return
      const seen = Atomics.compareExchange(this.cells, cells.leastRefused, least, billionths)
      if (seen === least) return
    }
  }
}
