import type { Charge, ChargedOutcome, ModelPrice } from '../contract/prices.ts'
import {
  add,
  compare,
  isZero,
  multiply,
  one,
  type Rational,
  roundTo,
  zero,
} from '../money/rational.ts'
import { outputParts, type Parts, type Usage } from '../tokens/usage.ts'
import { entryOf } from '../user/lookup.ts'
import { type CostLine, CostSum } from './cost-sum.ts'
import { sheetAt } from './price-at.ts'

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

/** The exact cost of a request, in the order that contracts promise (docs/prices.md). */
export function calculate(model: ModelPrice, usage: Usage, context: PriceContext): Calculation {
  const unread = isFlat(model) ? [] : usage.unread.map((field) => `usage.${field}`)
  if (usage.passes.length > 0 && unread.length === 0 && model.charged[context.outcome] === 'full')
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

/** Whether a request has one price, whatever it counts. */
const isFlat = ({ price }: ModelPrice) => Object.keys(price).join() === 'request'

const nothing: Omit<Calculation, 'cost'> = {
  lines: [],
  steps: [],
  because: [],
  open: [],
  unknown: [],
  assumed: [],
}

/**
 * An answer of several passes costs their sum, each by its own counts and model; the request and calls of the whole are charged
 * with the first. An attempt that gave way to another model costs what `charged.inner_attempt` says.
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
