import { anthropicCounts, type Dialect, exclusive, inclusive } from './dialect.ts'

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
/** OpenRouter names its tools in `server_tool_use`, and in `server_tool_use_details`. */
const searches = {
  search: [
    'server_tool_use.web_search_requests',
    'server_tool_use_details.web_search_requests',
    'num_search_queries',
  ],
} as const
const chat: Dialect = { ...inclusive, counts: chatCounts, calls: searches }

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

const xaiTools = {
  search: ['server_side_tool_usage_details.web_search_calls'],
  'tool.x_search': ['server_side_tool_usage_details.x_search_calls'],
  'tool.code_interpreter': ['server_side_tool_usage_details.code_interpreter_calls'],
  'tool.file_search': ['server_side_tool_usage_details.file_search_calls'],
  'tool.document_search': ['server_side_tool_usage_details.document_search_calls'],
  'tool.image_generation': ['server_side_tool_usage_details.image_generation_calls'],
} as const satisfies Dialect['calls']

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
      ...chatCounts,
      input: ['prompt_tokens', 'input_tokens'],
      cacheRead: [...chatCounts.cacheRead, 'input_tokens_details.cached_tokens'],
      output: ['completion_tokens', 'output_tokens'],
      reasoning: [...chatCounts.reasoning, 'output_tokens_details.reasoning_tokens'],
    },
    calls: { ...xaiTools, search: [...xaiTools.search, 'num_sources_used', ...searches.search] },
  },
  openrouter: chat,
  /** Pages are those of its OCR, seconds those of speech, connectors the tools of its agents. */
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
    calls: {
      search: [...searches.search, 'connectors.web_search'],
      page: ['pages_processed'],
      second: ['prompt_audio_seconds'],
    },
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
      'tool.classification': ['billed_units.classifications'],
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
      cacheWrite5m: [
        ...chatCounts.cacheWrite5m,
        'prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens',
        'cache_creation.ephemeral_5m_input_tokens',
      ],
      cacheWrite1h: [
        'prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens',
        'cache_creation.ephemeral_1h_input_tokens',
      ],
    },
    calls: { search: [...searches.search, 'prompt_tokens_details.web_search_requests'] },
  },
  'new-api': { ...chat, counts: newApiCounts },
  /** new-api's answers with `usage_semantic: anthropic`. */
  'new-api-anthropic': { ...exclusive, counts: newApiCounts },
} as const satisfies Record<string, Dialect>
