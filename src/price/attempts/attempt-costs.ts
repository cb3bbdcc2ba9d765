import { isFilterReason } from '../../attempt/filter-reasons.ts'
import type { Outcome } from '../../attempt/outcome.ts'
import type { Contract } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import { pricesOutput } from '../../contract/price-entry.ts'
import type { ChargedOutcome, ModelPrice, PriceTerms } from '../../contract/prices.ts'
import { mostDigits } from '../../money/money.ts'
import { multiply, powerOfTen, type Rational, rational, roundWhole } from '../../money/rational.ts'
import { outputOf, promptOf, type Usage, unknownUsage } from '../../tokens/usage.ts'
import { onceForEach } from '../../user/once.ts'
import { calculate } from '../calculate.ts'
import { type CountedAnswer, tokenColumnNames, usageOfColumns } from './column-usage.ts'
import { priceStepMs } from './price-moments.ts'

/** What the cost of an attempt depends on, as far as the client sees it. */
export interface CostedAttempt extends CountedAnswer {
  readonly model: string | null
  readonly responseModel: string | null
  readonly outcome: Outcome
  readonly finishReason: string | null
  readonly serviceTier: string | null
  /** UTC, milliseconds. */
  readonly atMs: number
}

/** Sums are whole units of 10^-18 of the currency, which hold every product of prices that was seen. */
export const costDigits = mostDigits

/** A sum of costs as a fraction. */
export const costRational = (units: bigint): Rational => rational(units, 10n ** BigInt(costDigits))

const mostKept = 20_000

/** Costs of attempts by a contract with prices and the tokens that the client counted; equal attempts are computed once. */
export class AttemptCosts {
  readonly prices: PriceTerms
  private readonly choices: Readonly<Record<string, string>>
  private readonly known = new Map<string, bigint | null>()
  /** The price of a name; null if the contract has none. */
  readonly modelOf: (name: string) => ModelPrice | null

  /** @param choices of factors that depend on the request: `{ group: 'vip' }` */
  constructor(
    contract: Contract,
    prices: PriceTerms,
    choices: Readonly<Record<string, string>> = {},
  ) {
    this.modelOf = onceForEach((name) => modelPriceOf(contract, name))
    this.prices = prices
    this.choices = choices
  }

  /** Units of 10^-18; null if the contract leaves the cost open, the answer reports no usage, or it was left or broke off and is charged. */
  unitsOf(attempt: CostedAttempt): bigint | null {
    const model = this.pricedModel(attempt)
    if (model === null) return null
    const { outcome, finishReason, serviceTier } = attempt
    const isTimed = model.hours.length > 0 || model.changes.length > 0
    const moment = isTimed ? Math.floor(attempt.atMs / priceStepMs([model])) : 0
    const key = `${model.id}|${outcome}|${finishReason}|${serviceTier}|${moment}|${attempt.severalPasses}|${tokenColumnNames.map((name) => attempt[name]).join()}`
    const known = this.known.get(key)
    if (known !== undefined) return known
    const units = this.computed(attempt, model)
    if (this.known.size >= mostKept) this.known.clear()
    this.known.set(key, units)
    return units
  }

  private pricedModel({ model, responseModel }: CostedAttempt): ModelPrice | null {
    const returned = responseModel === null ? null : this.modelOf(responseModel)
    const requested = model === null ? returned : this.modelOf(model)
    if (requested === null) return null
    const isOther = requested.served === 'any' || requested.priced === 'returned'
    return isOther ? (returned ?? requested) : requested
  }

  private computed(attempt: CostedAttempt, model: ModelPrice): bigint | null {
    const usage = usageOfColumns(attempt, model.dialect) ?? unknownUsage
    const outcome = chargedAs(attempt, usage, pricesOutput(model.price))
    const isLeft = outcome === 'abort' || outcome === 'broken'
    // What the service sent, or meant to send, of an answer without an end is not known.
    if (isLeft && model.charged[outcome] !== 'none') return null
    const { cost } = calculate(model, usage, {
      atMs: attempt.atMs,
      serviceTier: attempt.serviceTier,
      choices: this.choices,
      outcome,
      counts: {},
    })
    return cost === null ? null : unitsOfCost(cost)
  }
}

const unitsOfCost = (cost: Rational) =>
  roundWhole(multiply(cost, powerOfTen(costDigits)), 'half_even')

function chargedAs(
  { outcome, finishReason }: CostedAttempt,
  usage: Usage,
  mayBeEmpty: boolean,
): ChargedOutcome {
  if (outcome === 'http_error') return 'refused'
  if (outcome === 'broken') return 'broken'
  if (outcome !== 'ok') return 'abort'
  if (isFilterReason(finishReason)) return 'filtered'
  const isEmpty = mayBeEmpty && outputOf(usage.parts) === 0 && (promptOf(usage.parts) ?? 0) > 0
  return isEmpty ? 'empty' : 'success'
}

/**
 * The most that the tokens of a request can cost in units of 10^-18; null if open. All of its prompt is written to a cache, none read,
 * and the answer as long as it may be, as reasoning or text, or what else it may have, whichever is dearest. Calls are not counted.
 *
 * @param tokens.hasMedia whether the answer may have sound and pictures
 * @param tokens.media what the prompt may have beside text
 */
export function mostUnits(
  model: ModelPrice,
  {
    prompt,
    output,
    hasMedia = false,
    media = [],
  }: {
    readonly prompt: number
    readonly output: number
    readonly hasMedia?: boolean
    readonly media?: readonly PromptMedia[]
  },
  context: {
    readonly atMs: number
    readonly serviceTier: string | null
    readonly choices: Readonly<Record<string, string>>
  },
): bigint | null {
  const namings = namingsOf(model)
  const costs = [...inputs, ...media].flatMap((input) =>
    (hasMedia ? [...outputs, ...mediaOutputs] : outputs).flatMap((out) => {
      const parts = { ...nothing, [input]: prompt, [out]: output }
      return namings.map(
        (named) =>
          calculate(
            model,
            { ...unknownUsage, parts, named },
            { ...context, outcome: 'success', counts: {} },
          ).cost,
      )
    }),
  )
  if (costs.some((cost) => cost === null)) return null
  return costs.map((cost) => unitsOfCost(cost!)).reduce((a, b) => (a > b ? a : b))
}

/** What an answer may name, as far as prices depend on it. */
function namingsOf({ by }: ModelPrice): readonly Readonly<Record<string, string>>[] {
  return Object.entries(by).reduce<readonly Readonly<Record<string, string>>[]>(
    (before, [field, values]) =>
      before.flatMap((named) => [
        named,
        ...Object.keys(values).map((value) => ({ ...named, [field]: value })),
      ]),
    [{}],
  )
}

export type PromptMedia = 'input_audio' | 'input_image'

const inputs = ['input_uncached', 'cache_write', 'cache_write_1h'] as const
const outputs = ['output_visible', 'reasoning'] as const
const mediaOutputs = ['output_audio', 'output_image'] as const
const nothing = Object.fromEntries(
  Object.keys(unknownUsage.parts).map((part) => [part, 0]),
) as Record<keyof Usage['parts'], number>
