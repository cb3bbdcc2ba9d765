import { isSharedTemplate } from '../../../attempt/evidence.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import { hasSystemPrompt } from '../../evidence/untested-pairs.ts'

/** By factor: the level of a request in it. */
export type Levels = Readonly<Record<string, (exchange: Exchange) => string>>

/** Factors that must not affect the price, and the level of a request in each. */
export const factors: Levels = {
  format: ({ row }) => row.endpoint,
  stream: ({ row }) => (row.streamed === 1 ? 'streamed' : 'plain'),
  n: (exchange) => `n ${exchange.requestField('n') ?? 1}`,
  max_tokens: (exchange) => `max_tokens ${exchange.requestField('max_tokens') ?? 'left out'}`,
  'prompt length': ({ row }) =>
    (row.requestBody?.length ?? 0) > 1000 ? 'a long prompt' : 'a short prompt',
  user: (exchange) => (exchange.requestField('user') === undefined ? 'no user' : 'a user'),
  'system prompt': (exchange) =>
    hasSystemPrompt(exchange) ? 'a system prompt' : 'no system prompt',
}

/** One more factor: whether a request is the same as an earlier one of its account. */
export function repetition(
  readings: readonly BalanceReading[],
  exchanges: ReadonlyMap<string, Exchange>,
): Levels {
  const repeats = new Set<Exchange>()
  for (const { history } of readings) {
    const first = new Set<string>()
    for (let row = 0; row < history.size; row++) {
      const exchange = exchanges.get(keyOf(history.runId, history.slot[row]!, history.retry[row]!))
      if (exchange === undefined || exchange.row.requestBody === null) continue
      if (isSharedTemplate(exchange.row)) continue
      const name = `${exchange.row.path} ${exchange.row.requestBody}`
      if (first.has(name)) repeats.add(exchange)
      first.add(name)
    }
  }
  return {
    repetition: (exchange) =>
      repeats.has(exchange) ? 'a request like an earlier one' : 'a first request',
  }
}

export const keyOf = (runId: string, slot: number, retry: number): string =>
  `${runId}/${slot}/${retry}`
