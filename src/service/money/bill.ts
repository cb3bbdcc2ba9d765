import {
  type ModelPrice,
  type Price,
  type PriceEntry,
  type PriceTerms,
  priceOfPart,
  tokenPriceNames,
} from '../../contract/prices.ts'
import {
  add,
  compare,
  divide,
  isZero,
  multiply,
  type Rational,
  rational,
  roundTo,
  roundWhole,
} from '../../money/rational.ts'
import { outputParts, type Part } from '../../tokens/usage.ts'
import { words } from '../../user/words.ts'
import { type Counts, type Metered, promptOf, sumOf, withoutParts } from './metered.ts'
import { entryOf, nothing, reached, type Sheet, sheetFor, value } from './sheet.ts'

/** One line of a bill. */
export interface Line {
  readonly part: string
  readonly count: number
  readonly cost: Rational
}

export interface Bill {
  readonly lines: readonly Line[]
  /** The product of the factors. */
  readonly times: Rational
  readonly cost: Rational
}

/** What a fault may change in the arithmetic. An honest bill has none. */
export interface Bends {
  readonly model?: (model: ModelPrice) => ModelPrice
  /** The moment whose prices hold, and the service tier. */
  readonly atMs?: number
  readonly serviceTier?: string | null
  /** The counts that tiers look at, if they are not those that are charged. */
  readonly tierCounts?: Counts
  /** The prices after tiers. */
  readonly price?: (price: Price, sheet: Sheet) => Price
  readonly times?: (times: Rational) => Rational
  /** Each line, before the sum. */
  readonly line?: (line: Line) => Line
  /** The entry of the contract that is priced. */
  readonly entry?: string
}

/** Ends for which nothing is charged where the contract promises nothing. */
const isFailure: ReadonlySet<Metered['outcome']> = new Set(
  words('refused broken filtered gateway_cache inner_attempt'),
)
const empty: Bill = { lines: [], times: rational(1n), cost: nothing }

/**
 * What the service charges for an answer. It reads the contract's data and does its own arithmetic:
 * the auditor's calculator computes the same from the documents, and that both agree is a proof.
 */
export function billFor(terms: PriceTerms, metered: Metered, bends: Bends = {}): Bill {
  const meant = bends.entry ?? pricedEntry(terms, metered)
  const found = terms.models.find(({ id }) => id === meant)
  if (found === undefined) return empty
  const model = bends.model?.(found) ?? found
  const charged = model.charged[metered.outcome]
  if (charged === 'none' || (charged === 'open' && isFailure.has(metered.outcome))) return empty
  const counts = charged === 'input' ? withoutParts(metered.counts, outputParts) : metered.counts

  const atMs = bends.atMs ?? (model.clock === 'end' ? metered.endMs : metered.startMs)
  const tier = bends.serviceTier === undefined ? metered.serviceTier : bends.serviceTier
  const sheet = sheetFor(model, atMs, tier)
  const price = reachedPrice(sheet, bends.tierCounts ?? counts)
  const bent = bends.price?.(price, sheet) ?? price
  const isMarginal = sheet.tiers?.apply === 'marginal'
  const tokens = isMarginal ? marginalLines(sheet, counts) : tokenLines(bent, counts)
  const fees = feeLines(bent, metered.calls)
  const unrounded = [...tokens, ...fees].map((line) => bends.line?.(line) ?? line)

  const factor = factorOf(model, metered.choices)
  const times = bends.times?.(factor) ?? factor
  const { round } = model
  const lines = unrounded.map((line) => {
    const cost = multiply(line.cost, times)
    return {
      ...line,
      cost: round?.at === 'component' ? roundTo(cost, round.digits, round.mode) : cost,
    }
  })
  const sum = lines.reduce((all, line) => add(all, line.cost), nothing)
  const rounded = round?.at === 'request' ? roundTo(sum, round.digits, round.mode) : sum
  // A model without any price but 0 is free, and so is a request with a factor of 0.
  const isPriced = Object.values(sheet.price).some(
    (own) => own.price !== 'open' && !isZero(own.price),
  )
  const hasPrice = unrounded.length > 0 && isPriced && !isZero(times)
  const { minimum } = model
  const isSmall = minimum !== null && hasPrice && compare(rounded, minimum) < 0
  return { lines, times, cost: isSmall ? minimum : rounded }
}

/** The contract's entry whose price holds. */
export function pricedEntry(terms: PriceTerms, { meant, served }: Metered): string {
  const own = terms.models.find(({ id }) => id === meant)
  return own?.served === 'any' || own?.priced === 'returned' ? served : meant
}

function reachedPrice(sheet: Sheet, counts: Counts): Price {
  if (sheet.tiers === null || sheet.tiers.apply === 'marginal') return sheet.price
  return reached(sheet, tierCount(sheet, counts))
}

export function tierCount({ tiers }: Sheet, counts: Counts): number {
  if (tiers?.count !== 'input') return promptOf(counts)
  return sumOf(counts, ['input_uncached', 'input_audio', 'input_image'])
}

function tokenLines(price: Price, counts: Counts): readonly Line[] {
  // A price of requests only has tokens for free.
  if (!tokenPriceNames.some((name) => price[name] !== undefined)) return []
  return (Object.entries(counts) as [Part, number][])
    .filter(([, count]) => count !== 0)
    .map(([part, count]) => ({
      part,
      count,
      cost: costOf(entryOf(price, priceOfPart[part]), count),
    }))
}

/** Each part is cut at the thresholds by its own count. */
function marginalLines(sheet: Sheet, counts: Counts): readonly Line[] {
  const cuts = [0, ...sheet.tiers!.steps.map(({ above, from }) => value(above ?? from!))]
  return cuts.flatMap((cut, at) => {
    const until = cuts[at + 1] ?? Number.POSITIVE_INFINITY
    const price = reached(sheet, cut === 0 ? 0 : cut + 1)
    const piece = Object.entries(counts).map(([part, count]) => [
      part,
      Math.max(0, Math.min(count, until) - cut),
    ])
    return tokenLines(price, Object.fromEntries(piece))
  })
}

/** The fee of the request, then of its calls. */
function feeLines(price: Price, calls: Metered['calls']): readonly Line[] {
  return Object.entries({ request: 1, ...calls })
    .filter(([name, count]) => count > 0 && price[name] !== undefined)
    .map(([part, count]) => ({ part, count, cost: costOf(price[part], count) }))
}

function costOf(entry: PriceEntry | undefined, count: number): Rational {
  if (entry === undefined || entry.price === 'open') return nothing
  const { step, minimum, per } = entry
  let billed = decimalOf(count)
  if (step !== undefined) billed = multiply(rational(roundWhole(divide(billed, step), 'up')), step)
  if (minimum !== undefined && compare(billed, minimum) < 0) billed = minimum
  return divide(multiply(billed, entry.price), per)
}

/** Seconds have decimals, all other counts are whole. */
const decimalOf = (count: number): Rational => rational(BigInt(Math.round(count * 1000)), 1000n)

function factorOf({ factors }: ModelPrice, choices: Metered['choices']): Rational {
  return Object.entries(factors).reduce((product, [name, factor]) => {
    if ('value' in factor) return multiply(product, factor.value)
    const chosen = factor.choices[choices[name] ?? 'default'] ?? factor.choices.default
    return chosen === undefined ? product : multiply(product, chosen)
  }, rational(1n))
}
