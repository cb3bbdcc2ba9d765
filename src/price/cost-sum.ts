import { entryFor } from '../contract/price-entry.ts'
import {
  type Price,
  type PriceEntry,
  priceOfPart,
  type Tiers,
  tokenPrices,
} from '../contract/prices.ts'
import { startOf } from '../contract/read-price.ts'
import {
  add,
  compare,
  divide,
  isZero,
  multiply,
  one,
  type Rational,
  rational,
  roundWhole,
  zero,
} from '../money/rational.ts'
import { freshOf, type Part, type Parts, parts, promptOf } from '../tokens/usage.ts'
import { entryOf } from '../user/lookup.ts'
import { scaled } from './price-at.ts'

export interface CostLine {
  /** A part of usage, or a fee. */
  readonly name: string
  /** The written price that it has: its own or its parent's. */
  readonly priced: string
  readonly count: Rational
  readonly price: Rational
  readonly per: Rational
  /** count x price / per, before factors. */
  readonly cost: Rational
}

/** Fees whose count an answer may leave out if there is none. Others are unknown if they are left out. */
const mayBeSilent = (name: string) =>
  name === 'search' || name === 'image' || name.startsWith('tool.')

/** The parts and fees of one request by the prices of a moment, with what keeps a cost from being known. */
export class CostSum {
  readonly lines: CostLine[] = []
  readonly because: string[] = []
  readonly open: string[] = []
  readonly unknown: string[] = []
  readonly assumed: string[] = []
  /** Whether any part of the request has a price that is not 0, for the smallest charge. */
  isPriced = false
  private readonly base: Price
  private readonly tiers: Tiers | null
  private readonly parts: Parts

  constructor(
    base: Price,
    tiers: Tiers | null,
    parts: Parts,
    calls: Readonly<Record<string, number>>,
    counts: Readonly<Record<string, Rational>>,
  ) {
    this.base = base
    this.tiers = tiers
    this.parts = parts
    const hasTokenPrices = Object.keys(base).some((name) => Object.hasOwn(tokenPrices, name))
    if (hasTokenPrices) this.addTokens()
    this.addFees(this.priceOfWhole(), calls, counts)
  }

  private addTokens(): void {
    const { tiers } = this
    const whole = this.priceOfWhole()
    for (const part of parts) {
      const count = this.parts[part]
      if (count === null) {
        this.addUnknown(part, whole)
        continue
      }
      if (count === 0) continue
      if (tiers?.apply === 'marginal') this.addPieces(part, count, tiers)
      else this.addPart(part, rational(BigInt(count)), whole)
    }
  }

  /** One price for all parts: that of the tier of the whole request. */
  private priceOfWhole(): Price {
    const { tiers } = this
    if (tiers === null || tiers.apply === 'marginal') return this.base
    const count = tiers.count === 'prompt' ? promptOf(this.parts) : freshOf(this.parts)
    if (count === null) {
      this.addUnknownOnce('the count of the tier')
      return this.base
    }
    const reached = tiers.steps.filter(
      (step) => compare(rational(BigInt(count)), startOf(step)) >= 0,
    ).length
    const last = tiers.steps[reached - 1]
    const name = last === undefined ? null : tierName(last)
    if (name !== null && !this.because.includes(name)) this.because.push(name)
    return priceOfStep(this.base, tiers, reached)
  }

  /** A part that is cut at the thresholds by its own count. */
  private addPieces(part: Part, count: number, tiers: Tiers): void {
    const total = rational(BigInt(count))
    // The first threshold token belongs to the step: a step from T cuts after T - 1.
    const cuts = tiers.steps.map((step) => add(startOf(step), rational(-1n)))
    for (const [at, from] of [zero, ...cuts].entries()) {
      const to = cuts[at] ?? total
      const end = compare(to, total) < 0 ? to : total
      const piece = add(end, { ...from, numerator: -from.numerator })
      if (compare(piece, zero) <= 0) continue
      if (at > 0) {
        const name = tierName(tiers.steps[at - 1]!)
        if (!this.because.includes(name)) this.because.push(name)
      }
      this.addPart(part, piece, priceOfStep(this.base, tiers, at))
    }
  }

  private addPart(part: Part, count: Rational, price: Price): void {
    const found = entryFor(price, priceOfPart[part])
    if (found === null) this.addOpen(priceOfPart[part])
    else this.addLine(part, found.written, count, found.entry)
  }

  private addUnknown(part: Part, price: Price): void {
    const name = priceOfPart[part]
    const own = entryFor(price, name)
    const parent = tokenPrices[name]
    // A part that is not reported is counted in its parent, so only another price makes a difference.
    const usual = parent === null ? null : entryFor(price, parent)
    if (part === 'input_uncached' || part === 'output_visible') {
      if (own !== null && (own.entry.price === 'open' || !isZero(own.entry.price)))
        this.addUnknownOnce(`${part === 'input_uncached' ? 'input' : 'output'} tokens`)
    } else if (own !== null && own.written === name && !isSameEntry(own.entry, usual?.entry))
      this.assumed.push(part)
  }

  private addUnknownOnce(what: string): void {
    if (!this.unknown.includes(what)) this.unknown.push(what)
  }

  private addOpen(name: string): void {
    if (!this.open.includes(name)) this.open.push(name)
  }

  private addFees(
    price: Price,
    calls: Readonly<Record<string, number>>,
    counts: Readonly<Record<string, Rational>>,
  ): void {
    for (const [name, entry] of Object.entries(price)) {
      if (Object.hasOwn(tokenPrices, name)) continue
      const call = entryOf(calls, name)
      const stated =
        entryOf(counts, name) ?? (call === undefined ? undefined : (decimalOf(call) ?? undefined))
      if (name === 'request') this.addLine(name, name, stated ?? one, entry)
      else if (stated === undefined) {
        if (entry.price !== 'open' && isZero(entry.price)) continue
        if (mayBeSilent(name)) this.assumed.push(name)
        else this.addUnknownOnce(`${name} count`)
      } else if (!isZero(stated)) this.addLine(name, name, stated, entry)
    }
    // A price of each request is one of all that the request holds.
    if (Object.hasOwn(price, 'request')) return
    for (const [name, count] of Object.entries(calls))
      if (count > 0 && !Object.hasOwn(price, name)) this.addOpen(`a price of ${name}`)
  }

  private addLine(name: string, priced: string, count: Rational, entry: PriceEntry): void {
    if (entry.price === 'open') {
      this.addOpen(priced)
      return
    }
    this.isPriced ||= Object.values(this.base).some(
      ({ price }) => price === 'open' || !isZero(price),
    )
    const billed = billedCount(count, entry)
    const cost = divide(multiply(billed, entry.price), entry.per)
    this.lines.push({ name, priced, count: billed, price: entry.price, per: entry.per, cost })
  }
}

function decimalOf(count: number): Rational | null {
  return Number.isSafeInteger(count)
    ? rational(BigInt(count))
    : rational(BigInt(Math.round(count * 1e6)), 1_000_000n)
}

function billedCount(count: Rational, { minimum, step }: PriceEntry): Rational {
  const stepped =
    step === undefined ? count : multiply(rational(roundWhole(divide(count, step), 'up')), step)
  return minimum !== undefined && compare(stepped, minimum) < 0 ? minimum : stepped
}

function isSameEntry(a: PriceEntry, b: PriceEntry | undefined): boolean {
  if (b === undefined || a.price === 'open' || b.price === 'open') return false
  return compare(divide(a.price, a.per), divide(b.price, b.per)) === 0
}

const tierName = ({ above, from }: Tiers['steps'][number]): string =>
  above === undefined ? `tier from ${from!.numerator}` : `tier above ${above.numerator}`

/** The price of a step: entries that no step up to it writes stay those of the base. */
function priceOfStep(base: Price, { steps }: Tiers, reached: number): Price {
  if (reached === 0) return base
  const written = steps.slice(0, reached).map(({ price }) => price)
  const merged: Price = Object.assign({}, base, ...written)
  return scaled(merged, steps[reached - 1]!.times)
}
