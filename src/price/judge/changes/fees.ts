import { type ModelPrice, type PriceEntry, tokenPrices } from '../../../contract/prices.ts'
import { isZero, one, rational, zero } from '../../../money/rational.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { calculate, type PriceContext } from '../../calculate.ts'
import { scaled } from '../../price-at.ts'
import type { PricedRequest } from '../request.ts'
import { type Change, onModel } from './change.ts'

/** Changes to prices of requests and calls. */
export function feeChanges(models: readonly ModelPrice[]): readonly Change[] {
  const fees = new Set(
    models.flatMap(({ price }) =>
      Object.keys(price).filter((name) => !Object.hasOwn(tokenPrices, name)),
    ),
  )
  return [...fees].flatMap((fee) => [
    onModel(`${fee} free`, fee, (model) => withFree(model, fee)),
    onModel(`${fee} charged twice`, fee, (model) => {
      const entry = model.price[fee]
      return entry === undefined || entry.price === 'open'
        ? null
        : { ...model, price: { ...model.price, [fee]: doubled(entry) } }
    }),
    ...(fee === 'request'
      ? [
          {
            summary: 'the price of a request charged per second',
            about: fee,
            costOf(request: PricedRequest, model: ModelPrice, usage: Usage, context: PriceContext) {
              const seconds = Math.ceil((request.endMs - request.startMs) / 1000)
              return seconds < 2
                ? null
                : calculate(model, usage, {
                    ...context,
                    counts: { ...context.counts, request: rational(BigInt(seconds)) },
                  }).cost
            },
          } satisfies Change,
        ]
      : [onceMore(fee), ...countChanges(fee)]),
  ])
}

const minuteS = 60

/** Another least count, or another step to which a count is rounded up. */
function countChanges(fee: string): readonly Change[] {
  const counted = (summary: string, change: (entry: PriceEntry) => PriceEntry | null) =>
    onModel(summary, fee, (model) => {
      const entry = model.price[fee]
      const changed = entry === undefined ? null : change(entry)
      return changed === null ? null : { ...model, price: { ...model.price, [fee]: changed } }
    })
  return [
    counted(`${fee} by its exact count, not rounded up`, ({ minimum, step, ...exact }) =>
      minimum === undefined && step === undefined ? null : exact,
    ),
    counted(`${fee} rounded up to whole numbers`, (entry) => ({ ...entry, step: one })),
    ...(fee === 'second'
      ? [
          counted('second rounded up to whole minutes', (entry) => ({
            ...entry,
            step: rational(BigInt(minuteS)),
          })),
        ]
      : []),
  ]
}

/** A call that the request did not make. */
function onceMore(fee: string): Change {
  return {
    summary: `${fee} charged without one`,
    about: fee,
    costOf(_, model, usage, context) {
      const made = context.counts?.[fee] ?? usage.calls[fee] ?? 0
      const isNone = typeof made === 'number' ? made === 0 : isZero(made)
      const counts = { ...context.counts, [fee]: one }
      return isNone ? calculate(model, usage, { ...context, counts }).cost : null
    },
  }
}

function doubled(entry: PriceEntry): PriceEntry {
  return scaled({ entry }, rational(2n)).entry!
}

function withFree(model: ModelPrice, fee: string): ModelPrice | null {
  const entry = model.price[fee]
  return entry === undefined
    ? null
    : { ...model, price: { ...model.price, [fee]: { ...entry, price: zero } } }
}
