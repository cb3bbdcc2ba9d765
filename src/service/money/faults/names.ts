import { outputParts } from '../../../tokens/usage.ts'
import { pricedEntry } from '../bill.ts'
import { withoutParts } from '../metered.ts'
import { another, free, type MoneyFault, moneyFault } from './money-fault.ts'

/** Such as a model and its snapshot: one name begins with the other. */
const isNearName = (one: string, other: string) => one.startsWith(other) || other.startsWith(one)

export const nameFaults: readonly MoneyFault[] = [
  moneyFault('F22', 'snapshot-price', 'SL')
    .does('another entry of the contract has the price of the name')
    .prices((making) => {
      const entry = pricedEntry(making.terms, making.metered)
      const other = making.terms.models.find(({ id }) => id !== entry && isNearName(id, entry))
      return other === undefined ? null : { entry: other.id }
    }),
  moneyFault('F23', 'unknown-free', 'SB')
    .does('a request by another name of the model is free')
    .bills((making) => (making.metered.asked === making.metered.meant ? null : free(making))),
  moneyFault('F24', 'component-free', 'SLB')
    .does('uncached input and visible output are free where audio or images cost')
    .counts((counts) => {
      const media = ['input_audio', 'input_image', 'output_audio', 'output_image'] as const
      if (media.every((part) => (counts[part] ?? 0) === 0)) return null
      return withoutParts(counts, ['input_uncached', 'output_visible'])
    }),
  moneyFault('F25', 'fallback-free', 'SLB')
    .does('a request that another model served is free')
    .bills((making) => (making.metered.served === making.metered.meant ? null : free(making))),
  moneyFault('F26', 'failed-attempt-charged', 'LB')
    .does('each attempt inside costs its input')
    .distorts((charge, making, where) => {
      const { counts, innerFailures } = making.metered
      if (innerFailures === 0) return null
      const input = withoutParts(counts, outputParts)
      const bill = making.billOf(input)
      let wrong = charge
      for (let nth = 0; nth < innerFailures; nth++) {
        wrong = another(wrong, { counts: input, bill, cost: bill.cost }, where)
      }
      return wrong
    }),
]
