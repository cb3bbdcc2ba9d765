import { compare, isZero, multiply, one, rational, subtract } from '../../../money/rational.ts'
import { billFor } from '../bill.ts'
import { addedTo, promptOf, withoutParts } from '../metered.ts'
import { another, free, type MoneyFault, moneyFault } from './money-fault.ts'

const cent = rational(1n, 100n)
const thousand = rational(1000n)
/** How much longer than it is a gateway guesses a prompt. */
const guessed = 4 / 3

/** Kinds of faults beside those of the list of public reports, each with a report of its own. */
export const furtherFaults: readonly MoneyFault[] = [
  moneyFault('litellm#18599', 'visible-free', 'SLB')
    .does('output beside reasoning is free')
    .counts((counts) =>
      (counts.reasoning ?? 0) > 0 ? withoutParts(counts, ['output_visible']) : null,
    ),
  moneyFault('hermes-agent#107989', 'unit-mistaken', 'SLB')
    .does('prices of a million tokens are charged for a thousand')
    .bills(({ bill }) => ({ ...bill, cost: multiply(bill.cost, thousand) })),
  moneyFault('new-api#7273', 'settled-twice', 'LB')
    .does('a stream is charged as it goes, and once more as a whole')
    .distorts((charge, making, where) =>
      making.metered.stream && charge.rows[0] !== undefined
        ? another(charge, charge.rows[0], where)
        : null,
    ),
  moneyFault('litellm#10384', 'search-always', 'SLB')
    .does('a request without a search costs a search')
    .bills(({ terms, metered }) =>
      metered.calls.search === undefined
        ? billFor(terms, { ...metered, calls: { ...metered.calls, search: 1 } })
        : null,
    ),
  moneyFault('langfuse#8020', 'output-is-total', 'SLB')
    .does('the total of the tokens is charged as output')
    .counts((counts) => addedTo(counts, 'output_visible', promptOf(counts))),
  moneyFault('otari#256', 'stream-unmetered', 'LB')
    .does('streamed messages are booked without tokens and cost')
    .distorts((charge, making, where) => {
      const { stream, endpoint } = making.metered
      if (!stream || endpoint !== 'messages') return null
      const bill = free(making)
      return {
        ...charge,
        ...(where.includes('logged') ? { rows: [{ counts: {}, bill, cost: bill.cost }] } : {}),
        ...(where.includes('balance') ? { postings: [] } : {}),
      }
    }),
  moneyFault('openscience#121', 'tier-by-uncached', 'SLB')
    .does('a tier counts input without cached tokens')
    .prices(({ metered: { counts } }) => ({
      tierCounts: { input_uncached: counts.input_uncached ?? 0 },
    })),
  moneyFault('helicone#5779', 'tier-misses-write', 'SLB')
    .does('cache writes keep the low price above the threshold')
    .prices(() => ({
      price: (price, { price: { cache_write, cache_write_1h } }) => ({
        ...price,
        ...(cache_write === undefined ? {} : { cache_write }),
        ...(cache_write_1h === undefined ? {} : { cache_write_1h }),
      }),
    })),
  moneyFault('new-api-horizon#29', 'image-stream-free', 'SLB')
    .does('images in the prompt of a stream are free')
    .counts((counts, { metered }) =>
      metered.stream && (counts.input_image ?? 0) > 0
        ? withoutParts(counts, ['input_image'])
        : null,
    ),
  moneyFault('OmniRoute#13686', 'input-guessed', 'SLB')
    .does('the prompt of a stream is charged as a guess of its length')
    .counts((counts, { metered: { stream } }) => {
      const input = counts.input_uncached ?? 0
      return stream ? { ...counts, input_uncached: Math.ceil(input * guessed) } : null
    }),
  moneyFault('litellm#1849', 'posting-lost', 'B', 0.02)
    .does('one charge in fifty never comes to the balance')
    .distorts((charge) => ({ ...charge, postings: [] })),
  moneyFault('new-api#2608', 'cent-at-least', 'SLB')
    .does('every request costs at least a cent')
    .bills(({ bill }) =>
      !isZero(bill.cost) && compare(bill.cost, cent) < 0 ? { ...bill, cost: cent } : null,
    ),
  moneyFault('llmgateway#1048', 'discount-inverted', 'SLB')
    .does('a factor of 0.8 is taken for a discount of 0.8')
    .prices(({ bill }) =>
      compare(bill.times, one) < 0 && !isZero(bill.times)
        ? { times: (times) => subtract(one, times) }
        : null,
    ),
]
