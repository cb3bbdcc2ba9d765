import { addedTo, withoutParts } from '../metered.ts'
import { nothing } from '../sheet.ts'
import {
  another,
  billing,
  cachedAsInput,
  counting,
  free,
  type MoneyFault,
  misreporting,
  moneyFault,
  readsOf,
} from './money-fault.ts'

export const streamFaults: readonly MoneyFault[] = [
  moneyFault(
    'F01',
    'stream-free',
    'SLB',
    "a stream's cost is 0, its tokens are right",
    billing((making) => (making.metered.stream ? free(making) : null)),
  ),
  moneyFault(
    'F02',
    'log-total-zero',
    'L',
    'the logged parts of a stream are right, their total is 0',
    (charge, { metered }, where) => {
      if (!metered.stream || !where.includes('logged')) return null
      return { ...charge, rows: charge.rows.map((row) => ({ ...row, cost: nothing })) }
    },
  ),
  moneyFault(
    'F03',
    'alias-stream-free',
    'SL',
    'a stream by another name of the model is free',
    billing((making) => {
      const { stream, asked, meant } = making.metered
      return stream && asked !== meant ? free(making) : null
    }),
  ),
  moneyFault(
    'F04',
    'header-zero',
    'S',
    'messages state a cost of 0',
    billing((making) => (making.metered.endpoint === 'messages' ? free(making) : null)),
  ),
  moneyFault(
    'F05',
    'chunk-sum-output',
    'SLB',
    'the first and the last output count of a stream are added',
    misreporting((counts, { metered, atStart }) =>
      metered.stream && atStart > 0 ? addedTo(counts, 'output_visible', atStart) : null,
    ),
  ),
  moneyFault(
    'F06',
    'chunk-sum-input',
    'SB',
    'a stream costs its input and its reads twice',
    counting((counts, { metered }) =>
      metered.stream
        ? addedTo(
            addedTo(counts, 'input_uncached', counts.input_uncached ?? 0),
            'cache_read',
            readsOf(counts),
          )
        : null,
    ),
  ),
  moneyFault(
    'F07',
    'delta-row',
    'LB',
    'a stream has an extra row without input, which costs its output again',
    (charge, making, where) => {
      if (!making.metered.stream) return null
      const { cache_read: _, ...counts } = withoutParts(making.metered.counts, [
        ...(['input_uncached', 'cache_read', 'cache_read_audio', 'cache_write'] as const),
        ...(['cache_write_1h', 'input_audio', 'input_image'] as const),
      ])
      const bill = making.billOf(counts)
      return another(charge, { counts, bill, cost: bill.cost }, where)
    },
  ),
  moneyFault(
    'F08',
    'stream-cached-full',
    'SLB',
    'cached tokens of streams cost the full price',
    counting((counts, { metered }) => (metered.stream ? cachedAsInput(counts) : null)),
  ),
]
