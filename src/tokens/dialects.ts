import type { StatedCounts, UsageForm } from './usage.ts'

/**
 * How a service, or a log, names its counts. Each field lists the places where the count may be, and the
 * first that is there counts. A place is a path such as `prompt_tokens_details.cached_tokens`; `list[AUDIO]`
 * is the element of a list with this `modality` or `ttl`, in capitals or not.
 *
 * The names are those of the services' own libraries and references, which docs/prices.md lists.
 */
export interface Dialect extends UsageForm {
  readonly counts: Readonly<Partial<Record<keyof StatedCounts, readonly string[]>>>
  /** Calls and seconds, by the name of their price. */
  readonly calls?: Readonly<Record<string, readonly string[]>>
}

const inclusive = { input: 'all', output: 'all' } as const satisfies UsageForm
const exclusive = { input: 'uncached', output: 'all' } as const satisfies UsageForm

const chatCounts = {
  input: ['prompt_tokens'],
  cacheRead: [
    'prompt_tokens_details.cached_tokens',
    'prompt_cache_hit_tokens',
    'cached_tokens',
    'cache_read_input_tokens',
  ],
  cacheReadAudio: ['prompt_tokens_details.cached_tokens_details.audio_tokens'],
  cacheWrite: [
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    // Alibaba's Model Studio.
    'prompt_tokens_details.cache_creation_input_tokens',
    'cache_creation_input_tokens',
  ],
  cacheWrite5m: ['prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens'],
  inputAudio: ['prompt_tokens_details.audio_tokens'],
  inputImage: ['prompt_tokens_details.image_tokens'],
  output: ['completion_tokens'],
  reasoning: ['completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  outputAudio: ['completion_tokens_details.audio_tokens'],
  outputImage: ['completion_tokens_details.image_tokens'],
  total: ['total_tokens'],
} as const satisfies Dialect['counts']
const searches = { search: ['server_tool_use.web_search_requests', 'num_search_queries'] } as const
const chat: Dialect = { ...inclusive, counts: chatCounts, calls: searches }

const anthropicCounts = {
  input: ['input_tokens'],
  cacheRead: ['cache_read_input_tokens'],
  cacheWrite: ['cache_creation_input_tokens'],
  cacheWrite5m: ['cache_creation.ephemeral_5m_input_tokens'],
  cacheWrite1h: ['cache_creation.ephemeral_1h_input_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details.thinking_tokens'],
} as const satisfies Dialect['counts']

const newApiCounts = {
  ...chatCounts,
  input: ['prompt_tokens', 'input_tokens'],
  cacheWrite: [
    'prompt_tokens_details.cached_creation_tokens',
    ...chatCounts.cacheWrite,
    'input_tokens_details.cached_creation_tokens',
  ],
  cacheWrite5m: ['claude_cache_creation_5_m_tokens', ...chatCounts.cacheWrite5m],
  cacheWrite1h: ['claude_cache_creation_1_h_tokens'],
  output: ['completion_tokens', 'output_tokens'],
} as const satisfies Dialect['counts']

/** Calls of xAI's own tools. */
const xaiTools = {
  search: ['server_side_tool_usage_details.web_search_calls'],
  'tool.x_search': ['server_side_tool_usage_details.x_search_calls'],
  'tool.code_interpreter': ['server_side_tool_usage_details.code_interpreter_calls'],
  'tool.file_search': ['server_side_tool_usage_details.file_search_calls'],
  'tool.document_search': ['server_side_tool_usage_details.document_search_calls'],
  'tool.image_generation': ['server_side_tool_usage_details.image_generation_calls'],
} as const satisfies Dialect['calls']

/** Dialects of answers. */
export const answerDialects = {
  /** OpenAI, Azure, vLLM, Groq, Together, Fireworks, Z.ai. */
  'openai-chat': chat,
  /**
   * Realtime sessions and transcriptions name the details in the singular. Perplexity's agents name reads and writes
   * as Anthropic does.
   */
  'openai-responses': {
    ...inclusive,
    counts: {
      input: ['input_tokens'],
      cacheRead: [
        'input_tokens_details.cached_tokens',
        'input_token_details.cached_tokens',
        'input_tokens_details.cache_read_input_tokens',
      ],
      cacheReadAudio: [
        'input_tokens_details.cached_tokens_details.audio_tokens',
        'input_token_details.cached_tokens_details.audio_tokens',
      ],
      cacheReadImage: ['input_token_details.cached_tokens_details.image_tokens'],
      cacheWrite: [
        'input_tokens_details.cache_write_tokens',
        'input_tokens_details.cache_creation_input_tokens',
      ],
      inputAudio: ['input_tokens_details.audio_tokens', 'input_token_details.audio_tokens'],
      inputImage: ['input_tokens_details.image_tokens', 'input_token_details.image_tokens'],
      output: ['output_tokens'],
      reasoning: [
        'output_tokens_details.reasoning_tokens',
        'output_token_details.reasoning_tokens',
      ],
      outputAudio: ['output_tokens_details.audio_tokens', 'output_token_details.audio_tokens'],
      outputImage: ['output_tokens_details.image_tokens', 'output_token_details.image_tokens'],
      total: ['total_tokens'],
    },
    calls: {
      second: ['seconds'],
      ...xaiTools,
      search: [
        ...xaiTools.search,
        'tool_calls_details.search_web.invocation',
        'tool_calls_details.web_search.invocation',
      ],
      'tool.fetch_url': ['tool_calls_details.fetch_url.invocation'],
    },
  },
  /** Also its form on Bedrock and Vertex. */
  anthropic: {
    ...exclusive,
    counts: anthropicCounts,
    calls: {
      search: ['server_tool_use.web_search_requests'],
      'tool.web_fetch': ['server_tool_use.web_fetch_requests'],
    },
  },
  'bedrock-converse': {
    ...exclusive,
    counts: {
      input: ['inputTokens'],
      cacheRead: ['cacheReadInputTokens', 'cacheReadInputTokenCount'],
      cacheWrite: ['cacheWriteInputTokens', 'cacheWriteInputTokenCount'],
      cacheWrite5m: ['cacheDetails[5m]'],
      cacheWrite1h: ['cacheDetails[1h]'],
      output: ['outputTokens'],
      total: ['totalTokens'],
    },
  },
  /** The later places are the names of its Interactions API. */
  gemini: {
    input: 'all',
    output: 'visible',
    counts: {
      input: ['promptTokenCount', 'total_input_tokens'],
      moreInput: ['toolUsePromptTokenCount', 'total_tool_use_tokens'],
      cacheRead: ['cachedContentTokenCount', 'total_cached_tokens'],
      cacheReadAudio: ['cacheTokensDetails[AUDIO]', 'cached_tokens_by_modality[AUDIO]'],
      cacheReadImage: ['cacheTokensDetails[IMAGE]', 'cached_tokens_by_modality[IMAGE]'],
      inputAudio: ['promptTokensDetails[AUDIO]', 'input_tokens_by_modality[AUDIO]'],
      inputImage: ['promptTokensDetails[IMAGE]', 'input_tokens_by_modality[IMAGE]'],
      output: ['candidatesTokenCount', 'responseTokenCount', 'total_output_tokens'],
      reasoning: ['thoughtsTokenCount', 'total_thought_tokens'],
      outputAudio: [
        'candidatesTokensDetails[AUDIO]',
        'responseTokensDetails[AUDIO]',
        'output_tokens_by_modality[AUDIO]',
      ],
      outputImage: [
        'candidatesTokensDetails[IMAGE]',
        'responseTokensDetails[IMAGE]',
        'output_tokens_by_modality[IMAGE]',
      ],
      total: ['totalTokenCount', 'total_tokens'],
    },
  },
  deepseek: {
    ...chat,
    counts: {
      ...chatCounts,
      cacheRead: ['prompt_cache_hit_tokens', 'prompt_tokens_details.cached_tokens'],
      cacheMiss: ['prompt_cache_miss_tokens'],
    },
  },
  /** Chat and responses. Some of its models leave cached tokens out of the prompt. */
  'xai-chat': {
    input: 'by-size',
    output: 'by-total',
    counts: {
      input: ['prompt_tokens', 'input_tokens'],
      cacheRead: ['prompt_tokens_details.cached_tokens', 'input_tokens_details.cached_tokens'],
      inputAudio: ['prompt_tokens_details.audio_tokens'],
      inputImage: ['prompt_tokens_details.image_tokens'],
      output: ['completion_tokens', 'output_tokens'],
      reasoning: [
        'completion_tokens_details.reasoning_tokens',
        'output_tokens_details.reasoning_tokens',
      ],
      outputAudio: ['completion_tokens_details.audio_tokens'],
      total: ['total_tokens'],
    },
    calls: {
      ...xaiTools,
      search: [...xaiTools.search, 'num_sources_used'],
    },
  },
  openrouter: chat,
  /** Pages are those of its OCR, seconds those of speech. */
  mistral: {
    ...chat,
    counts: {
      ...chatCounts,
      cacheRead: [
        'num_cached_tokens',
        'prompt_tokens_details.cached_tokens',
        'prompt_token_details.cached_tokens',
      ],
    },
    calls: { ...searches, page: ['pages_processed'], second: ['prompt_audio_seconds'] },
  },
  groq: chat,
  moonshot: {
    ...chat,
    counts: { ...chatCounts, cacheRead: ['cached_tokens', 'prompt_tokens_details.cached_tokens'] },
  },
  cohere: {
    ...inclusive,
    counts: {
      input: ['billed_units.input_tokens', 'meta.billed_units.input_tokens'],
      output: ['billed_units.output_tokens', 'meta.billed_units.output_tokens'],
    },
    calls: {
      search: ['billed_units.search_units', 'meta.billed_units.search_units'],
      image: ['billed_units.images', 'meta.billed_units.images'],
    },
  },
  perplexity: {
    input: 'all',
    output: 'visible',
    counts: {
      input: ['prompt_tokens'],
      output: ['completion_tokens'],
      reasoning: ['reasoning_tokens'],
      citation: ['citation_tokens'],
      total: ['total_tokens'],
    },
    calls: { search: ['num_search_queries'] },
  },
  litellm: {
    ...chat,
    counts: {
      ...chatCounts,
      cacheWrite1h: [
        'prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens',
        'cache_creation.ephemeral_1h_input_tokens',
      ],
    },
    calls: {
      search: ['server_tool_use.web_search_requests', 'prompt_tokens_details.web_search_requests'],
    },
  },
  'new-api': { ...chat, counts: newApiCounts },
  /** new-api's answers with `usage_semantic: anthropic`. */
  'new-api-anthropic': { ...exclusive, counts: newApiCounts },
} as const satisfies Record<string, Dialect>

/** Dialects of logs and reports. */
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
    counts: {
      ...anthropicCounts,
      input: ['uncached_input_tokens', 'input_tokens'],
    },
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
  'new-api-log': {
    ...inclusive,
    counts: {
      input: ['prompt_tokens'],
      cacheRead: ['other.cache_tokens'],
      cacheWrite: ['other.cache_creation_tokens'],
      cacheWrite5m: ['other.cache_creation_tokens_5m'],
      cacheWrite1h: ['other.cache_creation_tokens_1h'],
      output: ['completion_tokens'],
    },
  },
  /** new-api's rows with `other.claude`. */
  'new-api-log-claude': {
    ...exclusive,
    counts: {
      input: ['prompt_tokens'],
      cacheRead: ['other.cache_tokens'],
      cacheWrite: ['other.cache_creation_tokens'],
      cacheWrite5m: ['other.cache_creation_tokens_5m'],
      cacheWrite1h: ['other.cache_creation_tokens_1h'],
      output: ['completion_tokens'],
    },
  },
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

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  ...answerDialects,
  ...logDialects,
}
export type DialectName = keyof typeof answerDialects | keyof typeof logDialects
/** The dialects that a contract names. */
export const answerDialectNames = Object.keys(
  answerDialects,
) as readonly (keyof typeof answerDialects)[]
