import { entryFor } from '../contract/price-entry.ts'
import {
  type Charge,
  type ChargedOutcome,
  type ModelPrice,
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
  roundTo,
  roundWhole,
  zero,
} from '../money/rational.ts'
import {
  freshOf,
  outputParts,
  type Part,
  type Parts,
  parts,
  promptOf,
  type Usage,
} from '../tokens/usage.ts'
import { entryOf } from '../user/lookup.ts'
import { scaled, sheetAt } from './price-at.ts'

/** What a price depends on beside usage. */
export interface PriceContext {
  /** UTC, milliseconds. */
  readonly atMs: number
  readonly serviceTier: string | null
  /** Choices of the factors: `{ group: 'vip', region: 'us' }`. */
  readonly choices: Readonly<Record<string, string>>
  readonly outcome: ChargedOutcome
  /** Calls, seconds and images that the usage does not count. */
  readonly counts: Readonly<Record<string, Rational>>
  /** Looks up the price of a model that made a pass of the answer; absent: only the priced model is known. */
  readonly priceOf?: (name: string) => ModelPrice | null
}

/** One part of a cost. */
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

/** A step after the sum of parts. */
export interface CostStep {
  readonly step: 'times' | 'round' | 'minimum' | 'charged'
  readonly summary: string
  readonly cost: Rational
}

export interface Calculation {
  /** Null if something that it depends on is open or unknown. */
  readonly cost: Rational | null
  readonly lines: readonly CostLine[]
  readonly steps: readonly CostStep[]
  /** What the price at that moment follows from: `service tier flex`, `hours`, `tier above 200000`. */
  readonly because: readonly string[]
  /** Prices and outcomes without a promise. */
  readonly open: readonly string[]
  /** Counts and choices that nothing states. */
  readonly unknown: readonly string[]
  /** Parts and calls that nothing states, counted in their parent, or as none. */
  readonly assumed: readonly string[]
}

const usualCharge: Charge = 'full'

/**
 * The exact cost of a request, in the order of evaluation of contracts: normal form of the usage, price at the
 * moment, tier, sum of parts, fees, factors, rounding, smallest charge.
 */
export function calculate(model: ModelPrice, usage: Usage, context: PriceContext): Calculation {
  const unread = usage.unread.map((field) => `usage.${field}`)
  if (usage.passes.length > 0 && model.charged[context.outcome] === 'full')
    return ofPasses(model, usage, context)
  const charge = model.charged[context.outcome] ?? usualCharge
  if (charge === 'none')
    return {
      ...nothing,
      cost: zero,
      steps: [{ step: 'charged', summary: `${context.outcome}: none`, cost: zero }],
    }
  if (charge === 'open') return { ...nothing, cost: null, open: [`charged.${context.outcome}`] }
  if (unread.length > 0) return { ...nothing, cost: null, open: unread }
  const sheet = sheetAt(model, context.atMs, context.serviceTier, usage.named)
  if ('open' in sheet) return { ...nothing, cost: null, ...sheet }
  if (Object.keys(sheet.price).length === 0)
    return { ...nothing, cost: null, open: [`a price of ${model.id}`] }
  const counted = charge === 'input' ? withoutOutput(usage.parts) : usage.parts
  const sum = new CostSum(
    sheet.price,
    sheet.tiers,
    counted,
    charge === 'input' ? {} : usage.calls,
    context.counts,
  )
  return {
    ...finished(model, sum, context),
    because: [...sheet.because, ...sum.because],
    open: sum.open,
    assumed: sum.assumed,
    lines: sum.lines,
  }
}

const nothing: Omit<Calculation, 'cost'> = {
  lines: [],
  steps: [],
  because: [],
  open: [],
  unknown: [],
  assumed: [],
}

/**
 * An answer that was made in several passes costs the sum of them, each by its own counts and its own model. The request, and
 * the calls that the answer counts as a whole, are charged with the first. An attempt that gave way to another model costs what
 * `charged.inner_attempt` says.
 */
function ofPasses(model: ModelPrice, usage: Usage, context: PriceContext): Calculation {
  const { round, minimum } = model
  const byRequest = round?.at === 'component' ? round : null
  const isOfOthers = usage.passes.some(({ model: name }) => name !== null && name !== model.id)
  const lastAnswer = usage.passes.findLastIndex(({ kind }) => kind === 'fallback_message')
  const calculations = usage.passes.map((pass, at): Calculation => {
    const named = pass.model === null ? null : (context.priceOf?.(pass.model) ?? null)
    const own = pass.model === null || pass.model === model.id ? model : named
    const isInner = pass.kind === 'message' && at < lastAnswer
    const field = `usage.iterations ${at + 1}`
    if (pass.usage === null) return { ...nothing, cost: null, unknown: [`${field} counts`] }
    if (own === null) return { ...nothing, cost: null, open: [`a price of ${pass.model}`] }
    // Of two models, nothing says which made a pass without a name.
    if (pass.model === null && isOfOthers)
      return { ...nothing, cost: null, unknown: [`${field} model`] }
    const found = calculate(
      {
        ...own,
        round: byRequest,
        minimum: null,
        charged: { ...own.charged, [context.outcome]: 'full' },
      },
      {
        ...pass.usage,
        calls: at === 0 ? usage.calls : {},
        named: { ...usage.named, ...pass.usage.named },
      },
      { ...context, ...(at === 0 ? {} : { counts: { ...context.counts, request: zero } }) },
    )
    const inner = model.charged.inner_attempt
    if (!isInner || inner === 'full' || (found.cost !== null && isZero(found.cost))) return found
    return inner === 'none'
      ? { ...nothing, cost: zero }
      : { ...nothing, cost: null, open: [`charged.inner_attempt (${field})`] }
  })
  const all = <Field extends 'lines' | 'steps' | 'because' | 'open' | 'unknown' | 'assumed'>(
    field: Field,
  ) => calculations.flatMap((each) => each[field] as readonly Calculation[Field][number][])
  const known = calculations.flatMap(({ cost }) => cost ?? [])
  const isKnown = known.length === calculations.length
  const sum = known.reduce(add, zero)
  const rounded =
    round === null || byRequest !== null ? sum : roundTo(sum, round.digits, round.mode)
  const cost = minimum !== null && compare(rounded, minimum) < 0 && !isZero(sum) ? minimum : rounded
  return {
    cost: isKnown ? cost : null,
    lines: all('lines'),
    steps: all('steps'),
    because: [...new Set([`${usage.passes.length} passes`, ...all('because')])],
    open: [...new Set(all('open'))],
    unknown: [...new Set(all('unknown'))],
    assumed: [...new Set(all('assumed'))],
  }
}

function withoutOutput(of: Parts): Parts {
  const none = [...outputParts, 'citation'] as const
  return { ...of, ...Object.fromEntries(none.map((part) => [part, 0])) }
}

/** Factors, rounding and the smallest charge. */
function finished(
  model: ModelPrice,
  sum: CostSum,
  { choices }: PriceContext,
): Pick<Calculation, 'cost' | 'steps' | 'unknown'> {
  const unknown = [...sum.unknown]
  const steps: CostStep[] = []
  let times = one
  const applied: string[] = []
  for (const [name, factor] of Object.entries(model.factors)) {
    const choice = entryOf(choices, name) ?? 'default'
    const value = 'value' in factor ? factor.value : entryOf(factor.choices, choice)
    if (value === undefined) unknown.push(name)
    else {
      times = multiply(times, value)
      applied.push('value' in factor ? name : `${name} ${choice}`)
    }
  }
  if (unknown.length > 0 || sum.open.length > 0) return { cost: null, steps, unknown }
  const { round } = model
  const parts = sum.lines.map((line) => multiply(line.cost, times))
  const byComponent = round?.at === 'component'
  const rounded = byComponent ? parts.map((cost) => roundTo(cost, round.digits, round.mode)) : parts
  let cost = rounded.reduce(add, zero)
  if (applied.length > 0)
    steps.push({ step: 'times', summary: applied.join(', '), cost: parts.reduce(add, zero) })
  if (round !== null) {
    if (!byComponent) cost = roundTo(cost, round.digits, round.mode)
    const summary = `${byComponent ? 'each part' : 'the request'} to ${round.digits} decimals, ${round.mode}`
    steps.push({ step: 'round', summary, cost })
  }
  const { minimum } = model
  if (minimum !== null && compare(cost, minimum) < 0 && !isZero(times) && sum.isPriced) {
    cost = minimum
    steps.push({ step: 'minimum', summary: 'the smallest charge', cost })
  }
  return { cost, steps, unknown }
}

/** Fees whose count an answer may leave out if there is none. Others are unknown if they are left out. */
const mayBeSilent = (name: string) =>
  name === 'search' || name === 'image' || name.startsWith('tool.')

class CostSum {
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

function tierName({ above, from }: Tiers['steps'][number]): string {
  return above === undefined ? `tier from ${from!.numerator}` : `tier above ${above.numerator}`
}

/** The price of a step: entries that no step up to it writes stay those of the base. */
function priceOfStep(base: Price, { steps }: Tiers, reached: number): Price {
  if (reached === 0) return base
  const written = steps.slice(0, reached).map(({ price }) => price)
  const merged: Price = Object.assign({}, base, ...written)
  return scaled(merged, steps[reached - 1]!.times)
}
