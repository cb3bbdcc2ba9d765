import { words } from '../../../user/words.ts'
import { addedTo, withoutParts } from '../metered.ts'
import { nothing } from '../sheet.ts'
import {
  another,
  cachedAsInput,
  free,
  type MoneyFault,
  moneyFault,
  readsOf,
} from './money-fault.ts'

export const streamFaults: readonly MoneyFault[] = [
  moneyFault('F01', 'stream-free', 'SLB')
    .does("a stream's cost is 0, its tokens are right")
    .bills((making) => (making.metered.stream ? free(making) : null)),
  moneyFault('F02', 'log-total-zero', 'L')
    .does('the logged parts of a stream are right, their total is 0')
    .distorts((charge, { metered }, where) => {
      if (!metered.stream || !where.includes('logged')) return null
      return { ...charge, rows: charge.rows.map((row) => ({ ...row, cost: nothing })) }
    }),
  moneyFault('F03', 'alias-stream-free', 'SL')
    .does('a stream by another name of the model is free')
    .bills((making) => {
      const { stream, asked, meant } = making.metered
      return stream && asked !== meant ? free(making) : null
    }),
  moneyFault('F04', 'header-zero', 'S')
    .does('messages state a cost of 0')
    .bills((making) => (making.metered.endpoint === 'messages' ? free(making) : null)),
  moneyFault('F05', 'chunk-sum-output', 'SLB')
    .does('the first and the last output count of a stream are added')
    .misreports((counts, { metered, atStart }) =>
      metered.stream && atStart > 0 ? addedTo(counts, 'output_visible', atStart) : null,
    ),
  moneyFault('F06', 'chunk-sum-input', 'SB')
    .does('a stream costs its input and its reads twice')
    .counts((counts, { metered }) =>
      metered.stream
        ? addedTo(
            addedTo(counts, 'input_uncached', counts.input_uncached ?? 0),
            'cache_read',
            readsOf(counts),
          )
        : null,
    ),
  moneyFault('F07', 'delta-row', 'LB')
    .does('a stream has an extra row without input, which costs its output again')
    .distorts((charge, making, where) => {
      if (!making.metered.stream) return null
      const { cache_read: _, ...counts } = withoutParts(making.metered.counts, [
        ...words('input_uncached cache_read cache_read_audio cache_write cache_write_1h'),
        ...words('input_audio input_image'),
      ])
      const bill = making.billOf(counts)
      return another(charge, { counts, bill, cost: bill.cost }, where)
    }),
  moneyFault('F08', 'stream-cached-full', 'SLB')
    .does('cached tokens of streams cost the full price')
    .counts((counts, { metered }) => (metered.stream ? cachedAsInput(counts) : null)),
]
