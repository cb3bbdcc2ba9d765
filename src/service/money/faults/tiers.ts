import { costing } from '../charge.ts'
import { cachedAsInput, type MoneyFault, moneyFault, readsOf } from './money-fault.ts'

export const tierFaults: readonly MoneyFault[] = [
  moneyFault('F17', 'tier-marginal', 'SB')
    .does('only the tokens above a threshold cost more')
    .prices(() => ({
      model: (model) =>
        model.tiers === null ? model : { ...model, tiers: { ...model.tiers, apply: 'marginal' } },
    })),
  moneyFault('F18', 'tier-misses-read', 'SB')
    .does('cached tokens keep the low price above the threshold')
    .prices(({ metered }) =>
      readsOf(metered.counts) === 0
        ? null
        : {
            price: (price, sheet) => {
              const low = sheet.price.cache_read ?? sheet.price.input
              return low === undefined ? price : { ...price, cache_read: low }
            },
          },
    ),
  moneyFault('F19', 'flex-full', 'SB')
    .does('a cheaper service tier costs the standard price')
    .prices(({ metered }) => (metered.serviceTier === null ? null : { serviceTier: null })),
  moneyFault('F20', 'batch-flat', 'L')
    .does('batches above a threshold cost the flat price, and their cached tokens all of it')
    .distorts((charge, making, where) => {
      if (making.metered.serviceTier !== 'batch') return null
      const counts = cachedAsInput(making.metered.counts) ?? making.metered.counts
      return costing(charge, making.billOf(counts, { price: (_, sheet) => sheet.price }), where)
    }),
  moneyFault('F21', 'price-stale', 'SB')
    .does('the price before a change stays in use')
    .prices(() => ({
      model: (model) => ({ ...model, changes: [] }),
    })),
  moneyFault('F21', 'no-hours', 'SB')
    .does('the price is the same at all hours')
    .prices(() => ({
      model: (model) => ({ ...model, hours: [] }),
    })),
]
