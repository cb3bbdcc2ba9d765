import { multiply, rational } from '../../../money/rational.ts'
import { costing } from '../charge.ts'
import { addedTo, type Counts, movedTo } from '../metered.ts'
import { nothing } from '../sheet.ts'
import { cachedAsInput, type MoneyFault, moneyFault, readsOf } from './money-fault.ts'

const writesOf = (counts: Counts) => (counts.cache_write ?? 0) + (counts.cache_write_1h ?? 0)

export const cacheFaults: readonly MoneyFault[] = [
  moneyFault('F09 F10', 'cached-double', 'SB')
    .does('cached tokens cost the full price and the cached price')
    .counts((counts) =>
      readsOf(counts) === 0 ? null : addedTo(counts, 'input_uncached', readsOf(counts)),
    ),
  moneyFault('F11', 'write-double', 'SB')
    .does('cache writes cost their price and the price of input')
    .counts((counts) =>
      writesOf(counts) === 0 ? null : addedTo(counts, 'input_uncached', writesOf(counts)),
    ),
  moneyFault('F12', 'cached-full', 'SB')
    .does('cached tokens cost the full price')
    .counts(cachedAsInput),
  moneyFault('F13', 'cached-negative', 'SLB')
    .does('cached tokens are subtracted from a count that excludes them')
    .distorts((charge, making, where) => {
      const { counts } = making.metered
      if (readsOf(counts) === 0) return null
      const bill = making.billOf(addedTo(counts, 'input_uncached', -readsOf(counts)))
      const least = bill.cost.numerator < 0n ? { ...bill, cost: nothing } : bill
      return costing(charge, least, where)
    }),
  moneyFault('F14', 'cache-price-ignored', 'SL')
    .does('cached tokens cost half of input, whatever the contract says')
    .prices(({ metered }) =>
      readsOf(metered.counts) === 0
        ? null
        : {
            price: (price) => {
              const { input } = price
              if (input === undefined || input.price === 'open') return price
              return {
                ...price,
                cache_read: { ...input, price: multiply(input.price, rational(1n, 2n)) },
              }
            },
          },
    ),
  moneyFault('F15', 'ttl-short', 'SB')
    .does('writes for an hour cost as those for five minutes')
    .counts((counts) =>
      (counts.cache_write_1h ?? 0) === 0 ? null : movedTo(counts, 'cache_write_1h', 'cache_write'),
    ),
  moneyFault('F16', 'write-unseen', 'SLB')
    .does('cache writes are reported and charged as plain input')
    .misreports((counts) =>
      writesOf(counts) === 0
        ? null
        : movedTo(
            movedTo(counts, 'cache_write', 'input_uncached'),
            'cache_write_1h',
            'input_uncached',
          ),
    ),
]
