import type { Bill } from '../bill.ts'
import type { Making } from '../charge.ts'
import { addedTo, type Counts, generatedOf } from '../metered.ts'
import { free, isAborted, type MoneyFault, moneyFault } from './money-fault.ts'

/** The bill of a request that ended otherwise. */
const asSuccess = (making: Making, counts: Counts): Bill =>
  making.billOf(counts, {
    model: (model) => ({
      ...model,
      charged: { ...model.charged, [making.metered.outcome]: 'full' },
    }),
  })
const isEmpty = ({ metered }: Making) => generatedOf(metered.counts) === 0

/** Tokens that a gateway assumes if it knows nothing. */
const assumedTokens = 100

export const endFaults: readonly MoneyFault[] = [
  moneyFault('F33', 'empty-charged', 'LB')
    .does('a stream that ends before its first token costs its input')
    .bills((making) =>
      making.metered.stream && making.metered.outcome !== 'success' && isEmpty(making)
        ? asSuccess(making, making.metered.counts)
        : null,
    ),
  moneyFault('F34', 'abort-estimated', 'LB')
    .does('the text of a stream that the service breaks is charged')
    .bills((making) =>
      making.metered.outcome === 'broken' ? asSuccess(making, making.metered.counts) : null,
    ),
  moneyFault('F35', 'abort-free', 'LB')
    .does('a client that leaves pays nothing')
    .bills((making) => (isAborted(making) ? free(making) : null)),
  moneyFault('F36', 'abort-full', 'LB')
    .does('a client that leaves pays the whole answer')
    .bills((making) => (isAborted(making) ? asSuccess(making, making.whole) : null)),
  {
    ...moneyFault('F37', 'late-close-free', 'LB')
      .does('a complete stream whose client closes the connection within a second is free')
      .bills((making) => (making.metered.stream ? free(making) : null)),
    isLate: true,
  },
  moneyFault('F38', 'zero-estimated', 'LB')
    .does('a usage of 0 is replaced by an estimate')
    .bills((making) =>
      isAborted(making) && isEmpty(making)
        ? asSuccess(making, addedTo(making.metered.counts, 'output_visible', assumedTokens))
        : null,
    ),
  moneyFault('F39', 'filtered-charged', 'LB')
    .does('an answer that the filter holds back costs the full price')
    .bills((making) =>
      making.metered.outcome === 'filtered' ? asSuccess(making, making.whole) : null,
    ),
]
