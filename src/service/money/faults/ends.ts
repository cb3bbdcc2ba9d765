import type { Bill } from '../bill.ts'
import type { Making } from '../charge.ts'
import { addedTo, type Counts, generatedOf } from '../metered.ts'
import { billing, free, type MoneyFault, moneyFault } from './money-fault.ts'

/** The bill of a request that ended otherwise. */
const asSuccess = (making: Making, counts: Counts): Bill =>
  making.billOf(counts, {
    model: (model) => ({
      ...model,
      charged: { ...model.charged, [making.metered.outcome]: 'full' },
    }),
  })
const isAborted = ({ metered }: Making) => metered.outcome === 'abort'
const isEmpty = ({ metered }: Making) => generatedOf(metered.counts) === 0

/** Tokens that a gateway assumes if it knows nothing. */
const assumedTokens = 100

export const endFaults: readonly MoneyFault[] = [
  moneyFault(
    'F33',
    'empty-charged',
    'LB',
    'a stream that ends before its first token costs its input',
    billing((making) =>
      making.metered.stream && making.metered.outcome !== 'success' && isEmpty(making)
        ? asSuccess(making, making.metered.counts)
        : null,
    ),
  ),
  moneyFault(
    'F34',
    'abort-estimated',
    'LB',
    'the text of a stream that the service breaks is charged',
    billing((making) =>
      making.metered.outcome === 'broken' ? asSuccess(making, making.metered.counts) : null,
    ),
  ),
  moneyFault(
    'F35',
    'abort-free',
    'LB',
    'a client that leaves pays nothing',
    billing((making) => (isAborted(making) ? free(making) : null)),
  ),
  moneyFault(
    'F36',
    'abort-full',
    'LB',
    'a client that leaves pays the whole answer',
    billing((making) => (isAborted(making) ? asSuccess(making, making.whole) : null)),
  ),
  {
    ...moneyFault(
      'F37',
      'late-close-free',
      'LB',
      'a complete stream whose client closes the connection within a second is free',
      billing((making) => (making.metered.stream ? free(making) : null)),
    ),
    isLate: true,
  },
  moneyFault(
    'F38',
    'zero-estimated',
    'LB',
    'a usage of 0 is replaced by an estimate',
    billing((making) =>
      isAborted(making) && isEmpty(making)
        ? asSuccess(making, addedTo(making.metered.counts, 'output_visible', assumedTokens))
        : null,
    ),
  ),
  moneyFault(
    'F39',
    'filtered-charged',
    'LB',
    'an answer that the filter holds back costs the full price',
    billing((making) =>
      making.metered.outcome === 'filtered' ? asSuccess(making, making.whole) : null,
    ),
  ),
]
