import { anthropicCounts, type Dialect, exclusive, inclusive } from './dialect.ts'

const newApiCounts = {
  input: ['prompt_tokens'],
  cacheRead: ['other.cache_tokens'],
  cacheWrite: ['other.cache_creation_tokens'],
  cacheWrite5m: ['other.cache_creation_tokens_5m'],
  cacheWrite1h: ['other.cache_creation_tokens_1h'],
  output: ['completion_tokens'],
} as const satisfies Dialect['counts']

const newApiCalls = {
  search: ['other.web_search_call_count'],
  'tool.file_search': ['other.file_search_call_count'],
} as const satisfies Dialect['calls']

export const logDialects = {
  'openai-usage': {
    ...inclusive,
    counts: {
      input: ['input_tokens'],
      cacheRead: ['input_cached_tokens'],
      cacheWrite: ['input_cache_write_tokens'],
      output: ['output_tokens'],
    },
  },
  'anthropic-report': {
    ...exclusive,
    counts: { ...anthropicCounts, input: ['uncached_input_tokens', 'input_tokens'] },
    calls: { search: ['server_tool_use.web_search_requests'] },
  },
  'litellm-log': {
    ...inclusive,
    counts: {
      input: ['prompt_tokens'],
      cacheRead: [
        'metadata.usage_object.prompt_tokens_details.cached_tokens',
        'metadata.usage_object.cache_read_input_tokens',
        'metadata.additional_usage_values.prompt_tokens_details.cached_tokens',
        'metadata.additional_usage_values.cache_read_input_tokens',
        'cache_read_input_tokens',
      ],
      cacheWrite: [
        'metadata.usage_object.cache_creation_input_tokens',
        'metadata.usage_object.prompt_tokens_details.cache_creation_tokens',
        'metadata.additional_usage_values.cache_creation_input_tokens',
        'metadata.additional_usage_values.prompt_tokens_details.cache_creation_tokens',
        'cache_creation_input_tokens',
      ],
      output: ['completion_tokens'],
      reasoning: [
        'metadata.usage_object.completion_tokens_details.reasoning_tokens',
        'metadata.additional_usage_values.completion_tokens_details.reasoning_tokens',
      ],
      total: ['total_tokens'],
    },
  },
  'bedrock-log': {
    ...exclusive,
    counts: {
      input: ['input.inputTokenCount'],
      cacheRead: ['input.cacheReadInputTokenCount'],
      cacheWrite: ['input.cacheWriteInputTokenCount'],
      output: ['output.outputTokenCount'],
    },
  },
  helicone: {
    ...exclusive,
    counts: {
      input: ['prompt_tokens'],
      cacheRead: ['prompt_cache_read_tokens'],
      cacheWrite: ['prompt_cache_write_tokens'],
      output: ['completion_tokens'],
      reasoning: ['reasoning_tokens'],
    },
  },
  /** Sums of Langfuse's disjoint counts, by what they are. */
  langfuse: {
    input: 'uncached',
    output: 'visible',
    counts: {
      input: ['input'],
      cacheRead: ['cacheRead'],
      cacheWrite5m: ['cacheWrite'],
      cacheWrite1h: ['cacheWrite1h'],
      output: ['output'],
      reasoning: ['reasoning'],
    },
  },
  'new-api-log': { ...inclusive, counts: newApiCounts, calls: newApiCalls },
  /** new-api's rows with `other.claude`. */
  'new-api-log-claude': { ...exclusive, counts: newApiCounts, calls: newApiCalls },
  /** A generation, or a line of the activity: native counts where there are any. */
  'openrouter-log': {
    ...inclusive,
    counts: {
      input: ['native_tokens_prompt', 'tokens_prompt', 'prompt_tokens'],
      cacheRead: ['native_tokens_cached', 'tokens_cached'],
      output: ['native_tokens_completion', 'tokens_completion', 'completion_tokens'],
      reasoning: ['native_tokens_reasoning', 'tokens_reasoning', 'reasoning_tokens'],
    },
    calls: { search: ['num_search_results'] },
  },
  otel: {
    ...inclusive,
    counts: {
      // The later places are the names of earlier drafts and instrumentations.
      input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
      cacheRead: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
      cacheWrite: [
        'gen_ai.usage.cache_creation.input_tokens',
        'gen_ai.usage.cache_write.input_tokens',
        'gen_ai.usage.cache_creation_input_tokens',
      ],
      output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
      reasoning: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
    },
  },
  vercel: {
    ...inclusive,
    counts: {
      input: ['input_tokens'],
      cacheRead: ['cached_input_tokens'],
      cacheWrite: ['cache_creation_input_tokens'],
      output: ['output_tokens'],
      reasoning: ['reasoning_tokens'],
    },
  },
} as const satisfies Record<string, Dialect>
