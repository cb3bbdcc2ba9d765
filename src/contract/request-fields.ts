/** What fields of a request's body mean, whatever its format. */

/** Fields that add no token to a prompt. */
export const besidePrompt: ReadonlySet<string> = new Set([
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'temperature', 'top_p', 'top_k'],
  ...['stream', 'stream_options', 'stop', 'stop_sequences', 'n', 'seed', 'user', 'metadata'],
  ...['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
  ...['service_tier', 'store', 'cache_prompt', 'ignore_eos', 'min_tokens'],
  ...['prompt_cache_key', 'safety_identifier'],
])

/**
 * All that may add tokens to a prompt: the model, messages, tools, formats, and any field whose meaning is unknown here. In order of
 * names, so equal prompts are equal as JSON.
 */
export function promptParts<Value>(
  fields: Readonly<Record<string, Value>>,
): readonly (readonly [name: string, value: Value])[] {
  return Object.entries(fields)
    .filter(([name, value]) => value !== undefined && value !== null && !besidePrompt.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** The most tokens that an answer may have, under the name of any format; null if a request does not say. */
export function maxTokensOf(fields: Readonly<Record<string, unknown>>): number | null {
  const { max_completion_tokens, max_tokens, max_output_tokens } = fields
  const named = [max_completion_tokens, max_tokens, max_output_tokens]
  return named.find((count) => typeof count === 'number') ?? null
}
