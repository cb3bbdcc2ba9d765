import { type ModelPrice, type PriceEntry, tokenPrices } from '../../../contract/prices.ts'
import { isZero, one, type Rational, rational, zero } from '../../../money/rational.ts'
import { scaled } from '../../price-at.ts'
import { type Change, onModel, onTerms } from './change.ts'

/** Changes to prices of requests and calls. */
export function feeChanges(models: readonly ModelPrice[]): readonly Change[] {
  const fees = new Set(
    models.flatMap(({ price }) =>
      Object.keys(price).filter((name) => !Object.hasOwn(tokenPrices, name)),
    ),
  )
  return [...fees].flatMap((fee) => [
    onEntry(fee, `${fee} free`, (entry) => ({ ...entry, price: zero })),
    onEntry(fee, `${fee} charged twice`, (entry) =>
      entry.price === 'open' ? null : scaled({ entry }, rational(2n)).entry!,
    ),
    ...(fee === 'request'
      ? [
          onTerms('the price of a request charged per second', fee, ({ context }, of) => {
            const seconds = Math.ceil((of.endMs - of.startMs) / 1000)
            const counts = { ...context.counts, request: rational(BigInt(seconds)) }
            return seconds < 2 ? null : { context: { ...context, counts } }
          }),
        ]
      : [onceMore(fee), ...countChanges(fee)]),
  ])
}

/** Least counts that services bill: of seconds, images, searches. */
const usualLeast = [1n, 5n, 6n, 10n, 15n, 20n, 30n, 60n, 100n]

/** Another least count, or another step to which a count is rounded up. */
function countChanges(fee: string): readonly Change[] {
  const step = (summary: string, to: Rational) =>
    onEntry(fee, summary, (entry) => ({ ...entry, step: to }))
  return [
    onEntry(fee, `${fee} by its exact count, not rounded up`, ({ minimum, step, ...exact }) =>
      minimum === undefined && step === undefined ? null : exact,
    ),
    step(`${fee} rounded up to whole numbers`, one),
    ...(fee === 'second' ? [step('second rounded up to whole minutes', rational(60n))] : []),
    ...usualLeast.map((least) =>
      onEntry(fee, `${fee} counted as ${least} at least`, (entry) => ({
        ...entry,
        minimum: rational(least),
      })),
    ),
  ]
}

/** Another entry for a fee that the model has. */
const onEntry = (fee: string, summary: string, change: (entry: PriceEntry) => PriceEntry | null) =>
  onModel(summary, fee, (model) => {
    const entry = model.price[fee]
    const changed = entry === undefined ? null : change(entry)
    return changed && { ...model, price: { ...model.price, [fee]: changed } }
  })

/** A call that the request did not make. */
const onceMore = (fee: string): Change =>
  onTerms(`${fee} charged without one`, fee, ({ usage, context }) => {
    const made = context.counts?.[fee] ?? usage.calls[fee] ?? 0
    const isNone = typeof made === 'number' ? made === 0 : isZero(made)
    const counts = { ...context.counts, [fee]: one }
    return isNone ? { context: { ...context, counts } } : null
  })
