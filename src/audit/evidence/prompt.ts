import { isObject, type Json, type JsonObject } from '../../user/json.ts'
import type { Exchange } from './exchange.ts'

/** Fields of a request that add no token to its prompt. */
export const besidePrompt: ReadonlySet<string> = new Set([
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k'],
  ...['stream', 'stream_options', 'stop', 'stop_sequences', 'n', 'seed', 'user', 'metadata'],
  ...['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
  ...['service_tier', 'store', 'cache_prompt', 'ignore_eos', 'min_tokens'],
])

/**
 * A key of the model and of all that is part of a request's prompt: messages, and also tools, formats and any field whose
 * meaning is unknown here.
 *
 * @param changed fields that take the place of those of the request
 */
export function promptOf(exchange: Exchange, changed: JsonObject = {}): string {
  const body = exchange.requestJson
  const own = isObject(body) ? body : {}
  const parts = Object.entries<Json | undefined>({ ...own, ...changed }).filter(
    ([name, value]) => value !== undefined && value !== null && !besidePrompt.has(name),
  )
  return JSON.stringify(parts.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
