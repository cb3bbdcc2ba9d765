import type { DialectName } from '../../tokens/dialects.ts'
import { type Counts, generatedOf, type Metered, promptOf } from './metered.ts'

type Json = Readonly<Record<string, unknown>>

/** Tokens as a service of one dialect reports them: the member of the body, and its value. */
export interface UsageReport {
  readonly member: 'usage' | 'usageMetadata' | 'meta'
  readonly value: Json
}

/**
 * Writes disjoint counts in the dialect of a price. The reader of dialects (`src/tokens/`) is not
 * used: a mistake there would be made twice.
 */
export function usageReport(
  dialect: DialectName,
  counts: Counts,
  calls: Metered['calls'],
): UsageReport {
  const write = writers[dialect] ?? openAi
  const value = write(counts, calls)
  if (dialect === 'gemini') return { member: 'usageMetadata', value }
  return { member: dialect === 'cohere' ? 'meta' : 'usage', value }
}

type Writer = (counts: Counts, calls: Metered['calls']) => Json

const of = (counts: Counts, part: keyof Counts) => counts[part] ?? 0
const readsOf = (counts: Counts) => of(counts, 'cache_read') + of(counts, 'cache_read_audio')
const writesOf = (counts: Counts) => of(counts, 'cache_write') + of(counts, 'cache_write_1h')
/** Fields whose count is 0 are left out where a service has them only for such requests. */
const some = (fields: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, count]) => count !== 0))

const openAi: Writer = (counts, calls) => {
  const [prompt, completion] = [promptOf(counts), generatedOf(counts)]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: readsOf(counts),
      ...some({
        cache_write_tokens: writesOf(counts),
        audio_tokens: of(counts, 'input_audio') + of(counts, 'cache_read_audio'),
        image_tokens: of(counts, 'input_image'),
      }),
    },
    completion_tokens_details: {
      reasoning_tokens: of(counts, 'reasoning'),
      ...some({
        audio_tokens: of(counts, 'output_audio'),
        image_tokens: of(counts, 'output_image'),
      }),
    },
    ...some({ num_search_queries: calls.search ?? 0 }),
  }
}

const anthropic: Writer = (counts, calls) => ({
  input_tokens: promptOf(counts) - readsOf(counts) - writesOf(counts),
  cache_read_input_tokens: readsOf(counts),
  cache_creation_input_tokens: writesOf(counts),
  cache_creation: {
    ephemeral_5m_input_tokens: of(counts, 'cache_write'),
    ephemeral_1h_input_tokens: of(counts, 'cache_write_1h'),
  },
  output_tokens: generatedOf(counts),
  ...(of(counts, 'reasoning') === 0
    ? {}
    : { output_tokens_details: { thinking_tokens: of(counts, 'reasoning') } }),
  ...(calls.search === undefined ? {} : { server_tool_use: { web_search_requests: calls.search } }),
})

const deepSeek: Writer = (counts, calls) => ({
  ...openAi(counts, calls),
  prompt_cache_hit_tokens: readsOf(counts),
  prompt_cache_miss_tokens: promptOf(counts) - readsOf(counts),
})

/** Reasoning is beside the completion, and the total says so. */
const xai: Writer = (counts, calls) => ({
  ...openAi(counts, calls),
  completion_tokens: generatedOf(counts) - of(counts, 'reasoning'),
})

const gemini: Writer = (counts) => {
  const byModality = (audio: number, image: number) => [
    ...(audio === 0 ? [] : [{ modality: 'AUDIO', tokenCount: audio }]),
    ...(image === 0 ? [] : [{ modality: 'IMAGE', tokenCount: image }]),
  ]
  const thoughts = of(counts, 'reasoning')
  return {
    promptTokenCount: promptOf(counts),
    candidatesTokenCount: generatedOf(counts) - thoughts,
    totalTokenCount: promptOf(counts) + generatedOf(counts),
    ...some({ cachedContentTokenCount: readsOf(counts), thoughtsTokenCount: thoughts }),
    promptTokensDetails: byModality(
      of(counts, 'input_audio') + of(counts, 'cache_read_audio'),
      of(counts, 'input_image'),
    ),
    candidatesTokensDetails: byModality(of(counts, 'output_audio'), of(counts, 'output_image')),
  }
}

const moonshot: Writer = (counts, calls) => ({
  ...openAi(counts, calls),
  cached_tokens: readsOf(counts),
})

const perplexity: Writer = (counts, calls) => ({
  prompt_tokens: promptOf(counts),
  completion_tokens: generatedOf(counts) - of(counts, 'reasoning'),
  total_tokens: promptOf(counts) + generatedOf(counts) - of(counts, 'reasoning'),
  ...some({
    reasoning_tokens: of(counts, 'reasoning'),
    citation_tokens: of(counts, 'citation'),
    num_search_queries: calls.search ?? 0,
  }),
})

const liteLlm: Writer = (counts, calls) => {
  const usage = openAi(counts, {})
  return {
    ...usage,
    prompt_tokens_details: {
      ...(usage.prompt_tokens_details as Json),
      cache_write_tokens: undefined,
      cache_creation_tokens: writesOf(counts),
      ...(of(counts, 'cache_write_1h') === 0
        ? {}
        : {
            cache_creation_token_details: {
              ephemeral_5m_input_tokens: of(counts, 'cache_write'),
              ephemeral_1h_input_tokens: of(counts, 'cache_write_1h'),
            },
          }),
    },
    cache_read_input_tokens: readsOf(counts),
    cache_creation_input_tokens: writesOf(counts),
    ...(calls.search === undefined
      ? {}
      : { server_tool_use: { web_search_requests: calls.search } }),
  }
}

const newApi: Writer = (counts, calls) => ({
  ...openAi(counts, calls),
  ...some({
    claude_cache_creation_5_m_tokens: of(counts, 'cache_write'),
    claude_cache_creation_1_h_tokens: of(counts, 'cache_write_1h'),
  }),
})

const responses: Writer = (counts, calls) => {
  const chat = openAi(counts, calls)
  return {
    input_tokens: chat.prompt_tokens,
    input_tokens_details: chat.prompt_tokens_details,
    output_tokens: chat.completion_tokens,
    output_tokens_details: chat.completion_tokens_details,
    total_tokens: chat.total_tokens,
  }
}

const bedrock: Writer = (counts) => {
  const input = promptOf(counts) - readsOf(counts) - writesOf(counts)
  return {
    inputTokens: input,
    cacheReadInputTokens: readsOf(counts),
    cacheWriteInputTokens: writesOf(counts),
    outputTokens: generatedOf(counts),
    totalTokens: promptOf(counts) + generatedOf(counts),
  }
}

const cohere: Writer = (counts, calls) => ({
  billed_units: {
    input_tokens: promptOf(counts),
    output_tokens: generatedOf(counts),
    ...some({ search_units: calls.search ?? 0 }),
  },
})

const writers: Readonly<Partial<Record<DialectName, Writer>>> = {
  anthropic,
  deepseek: deepSeek,
  'xai-chat': xai,
  gemini,
  moonshot,
  perplexity,
  litellm: liteLlm,
  'new-api': (counts, calls) => ({ ...newApi(counts, calls), usage_semantic: 'openai' }),
  'new-api-anthropic': (counts, calls) => ({
    ...newApi(counts, calls),
    prompt_tokens: promptOf(counts) - readsOf(counts) - writesOf(counts),
    usage_semantic: 'anthropic',
  }),
  'openai-responses': responses,
  'bedrock-converse': bedrock,
  cohere,
}
