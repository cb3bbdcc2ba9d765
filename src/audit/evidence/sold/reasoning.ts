import type { Usage } from '../../../tokens/usage.ts'
import { isObject } from '../../../user/json.ts'
import { showsMoreThanText } from '../chat-texts.ts'
import type { Exchange } from '../exchange.ts'
import { answerUsage } from '../prices/answer-json.ts'
import { judgeRatio, leastPairs, type Ratio, ratioOf } from './ratio.ts'
import type { HiddenStream } from './speed.ts'

/** What an answer says of its tokens; null if it does not tell those of its reasoning. */
export function reasonedUsage(exchange: Exchange): Usage | null {
  const documents = exchange.isStream
    ? exchange.events?.events.map(({ json }) => json)
    : [exchange.responseJson]
  const known = (documents ?? []).filter((json) => json !== undefined)
  const { usage } = answerUsage(known, null, exchange.row.endpoint)
  return usage === null || (usage.parts.reasoning ?? null) === null ? null : usage
}

/** A stream of one text, whose times and tokens are known, and whose reasoning is not shown; null for any other. */
export function hiddenStreamOf(exchange: Exchange): HiddenStream | null {
  const { completionTokens, firstContentUs, lastContentUs, closedUs, sentUs, choices } =
    exchange.row
  if (!exchange.isStream || !exchange.isWhole || (choices ?? 1) > 1) return null
  if (completionTokens === null || closedUs === null) return null
  if (firstContentUs === null || lastContentUs === null) return null
  if (showsMoreThanText(exchange.row.responseBody ?? '')) return null
  const reasoning = reasonedUsage(exchange)?.parts.reasoning ?? 0
  const times = { textUs: lastContentUs - firstContentUs, wholeUs: closedUs - sentUs }
  return { reasoning, visible: completionTokens - reasoning, ...times }
}

export interface ReasoningPair {
  readonly own: number
  readonly reference: number
}

/** Answers of a service and its reference to equal requests, in order, without cut ones and those that do not tell their reasoning. */
export function reasoningPairs(
  own: readonly Exchange[],
  there: readonly Exchange[],
): readonly ReasoningPair[] {
  const left = Map.groupBy(there.flatMap(answerOf), ({ asked }) => asked)
  return own.flatMap(answerOf).flatMap(({ asked, reasoning }) => {
    const same = left.get(asked)?.shift()
    return same === undefined ? [] : [{ own: reasoning, reference: same.reasoning }]
  })
}

function answerOf(exchange: Exchange) {
  const reasoning = reasonedUsage(exchange)?.parts.reasoning ?? null
  if (reasoning === null || exchange.row.finishReason === 'length') return []
  if (!isObject(exchange.requestJson)) return []
  const { model: _, ...request } = exchange.requestJson
  return [{ asked: JSON.stringify(request), reasoning }]
}

export type ReasoningResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few'; readonly ratio: number }
  | Ratio

/** One model may honestly think longer in one place than in another: by its settings, or by chance. */
export const mostLonger = 1.25
const fails = 0.005

/** Logarithms of the ratios; of one token more each, since an answer may have none. */
export const logsOf = (pairs: readonly ReasoningPair[]): readonly number[] =>
  pairs.map(({ own, reference }) => Math.log((own + 1) / (reference + 1)))

/** Whether a service reports no more reasoning than its reference does for the same questions: SOLD-10 with a reference. */
export function judgeReasoning(
  pairs: readonly ReasoningPair[],
  draw: () => number,
): ReasoningResult {
  if (pairs.length === 0) return { is: 'unseen' }
  const logs = logsOf(pairs)
  return pairs.length < leastPairs
    ? { is: 'few', ratio: ratioOf(logs) }
    : judgeRatio(logs, mostLonger, fails, draw)
}
