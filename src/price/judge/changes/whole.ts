import type { Charge, ModelPrice } from '../../../contract/prices.ts'
import {
  add,
  divide,
  isEqual,
  isZero,
  multiply,
  one,
  type Rational,
  rational,
  roundTo,
  zero,
} from '../../../money/rational.ts'
import { type Parts, parts } from '../../../tokens/usage.ts'
import { calculate } from '../../calculate.ts'
import { endedWords } from '../ended-words.ts'
import type { OtherCurrency, PriceOf } from '../price-judge.ts'
import type { PricedRequest } from '../request.ts'
import { type Change, onModel, onTerms, onUsage } from './change.ts'

/** Another charge for how the request ended. */
export const outcomeChanges: readonly Change[] = (
  [
    ['charged in full', 'full'],
    ['its input charged', 'input'],
    ['not charged', 'none'],
  ] as const
).map(([summary, charge]) => ({
  ...{ summary, about: 'charged', whom: endedWords },
  costOf(_, model, usage, context) {
    const { outcome } = context
    const costBy = (by: Charge) =>
      calculate({ ...model, charged: { ...model.charged, [outcome]: by } }, usage, context).cost
    if (outcome === 'success' || model.charged[outcome] === charge) return null
    const cost = costBy(charge)
    // Where nothing is charged for output, the input is all there is.
    const full = charge === 'input' ? costBy('full') : null
    return cost !== null && full !== null && isEqual(cost, full) ? null : cost
  },
}))

/** The price of another name. */
export function nameChanges(models: readonly ModelPrice[], priceOf: PriceOf): readonly Change[] {
  const as = (summary: string, named: (request: PricedRequest) => ModelPrice | null) =>
    onTerms(summary, 'priced', (right, request) => {
      const model = named(request)
      return model === null || model.id === right.model.id ? null : { model }
    })
  return [
    as('the price of the name in the answer', ({ returnedModel }) =>
      returnedModel === null ? null : priceOf(returnedModel),
    ),
    as('the price of the requested name', ({ requestedModel }) => priceOf(requestedModel)),
    ...models.slice(0, mostNames).map((other) => as(`the price of ${other.id}`, () => other)),
  ]
}

/** Prices of other models are tried up to this number of models. */
const mostNames = 20

export const freeOfCharge = 'free'

const usualTimes = (
  [
    [freeOfCharge, zero],
    ['charged twice', rational(2n)],
    ['charged three times', rational(3n)],
    ['in hundredths of the unit', rational(100n)],
    ['a hundredth of it', rational(1n, 100n)],
    ['a thousand times of it', rational(1000n)],
    ['a thousandth of it', rational(1n, 1000n)],
    ['a million times of it', rational(1_000_000n)],
    ['a millionth of it', rational(1n, 1_000_000n)],
  ] as const
).map(([summary, by]) => ({ summary, by }))

export const wholeChanges: readonly Change[] = usualTimes.map(({ summary, by }) =>
  times(summary, by),
)

/** `charged twice` of 2: the words for a usual number of times the cost; null for any other. */
export const usualWords = (by: Rational): string | null =>
  usualTimes.find((each) => isEqual(each.by, by))?.summary ?? null

/** A number of times the cost, unless that is 0. */
function times(summary: string, by: Rational): Change {
  return {
    summary,
    about: 'the whole cost',
    costOf(_, model, usage, context) {
      const { cost } = calculate(model, usage, context)
      return cost === null || isZero(cost) ? null : multiply(cost, by)
    },
  }
}

const roundedModes = ['down', 'up', 'half_up', 'half_even'] as const
const roundedDigits = [0, 1, 2, 3, 4, 5, 6, 8]

/** Roundings to these digits, of the request or of each part. */
export const roundingsTo = (to: readonly number[]): readonly Change[] =>
  (['request', 'component'] as const).flatMap((at) =>
    roundedModes.flatMap((mode) =>
      to.map((digits) =>
        onModel(
          `${at === 'component' ? 'each part' : 'the request'} rounded to ${digits} decimals, ${mode}`,
          'round',
          (model) => ({ ...model, round: { at, digits, mode } }),
        ),
      ),
    ),
  )

/** Roundings that nobody promised. */
export const roundingChanges: readonly Change[] = roundingsTo(roundedDigits)

/** An amount of another currency that was taken as it is, or converted twice. */
export function unconvertedIn({ name, rate }: OtherCurrency): readonly Change[] {
  return [
    times(`the amount in ${name}, not converted`, divide(one, rate)),
    times(`converted from ${name} twice`, rate),
  ]
}

/** Roundings in another currency, and amounts of it that were taken as they are. */
export function roundedIn({ name, rate, isNamed }: OtherCurrency): readonly Change[] {
  const rounded = (at: 'request' | 'component') =>
    roundedModes.flatMap((mode) =>
      roundedDigits.map(
        (digits): Change => ({
          summary: `${at === 'component' ? 'each part' : 'the request'} rounded to ${digits} decimals of ${name}, ${mode}`,
          about: 'round',
          costOf(_, model, usage, context) {
            const found = calculate({ ...model, round: null }, usage, context)
            if (found.cost === null) return null
            const inOther = (cost: Rational) =>
              multiply(roundTo(divide(cost, rate), digits, mode), rate)
            if (at === 'request') return inOther(found.cost)
            const sum = found.lines.map(({ cost }) => cost).reduce(add, zero)
            if (isZero(sum)) return null
            // A smallest cost, or a factor on all parts, is no part itself: it is spread over them.
            const factor = divide(found.cost, sum)
            return found.lines.map(({ cost }) => inOther(multiply(cost, factor))).reduce(add, zero)
          },
        }),
      ),
    )
  return [
    ...(isNamed === true ? unconvertedIn({ name, rate }) : []),
    ...rounded('request'),
    ...rounded('component'),
  ]
}

/** Counts of tokens that are charged in whole steps. */
export const stepChanges: readonly Change[] = [10, 100, 1000].map((step) =>
  onUsage(`each count of tokens rounded up to ${step}`, 'the counts', (usage) => ({
    ...usage,
    parts: Object.fromEntries(
      parts.map((part) => {
        const count = usage.parts[part]
        return [part, count === null ? null : Math.ceil(count / step) * step]
      }),
    ) as Parts,
  })),
)
