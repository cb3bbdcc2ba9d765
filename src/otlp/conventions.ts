import { measures } from '../measure/measures.ts'

/**
 * OpenTelemetry's semantic conventions for generative AI, as far as a load says anything about them. A test compares the
 * names with the package of the conventions in this version.
 */
export const conventionsVersion = '1.45.0'
export const schemaUrl = `https://opentelemetry.io/schemas/${conventionsVersion}`

const secondsOfCalls = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const secondsOfChunks = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]
const powersOfFour = Array.from({ length: 14 }, (_, power) => 4 ** power)

/** A histogram of the conventions, and its values as SQL over rows of `attempts`; null for rows that have none. */
export interface OtelHistogram {
  readonly name: string
  readonly unit: 's' | '{token}'
  readonly description: string
  /** Upper bounds of its buckets, each inclusive. */
  readonly bounds: readonly number[]
  readonly values: readonly { readonly sql: string; readonly tokenType?: 'input' | 'output' }[]
}

export const histograms: readonly OtelHistogram[] = [
  {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'Time of an attempt, from its send to its end.',
    bounds: secondsOfCalls,
    values: [{ sql: `(${measures.service.value}) / 1e6` }],
  },
  {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    unit: 's',
    description: 'Time from the send of a streamed request to its first text.',
    bounds: secondsOfChunks,
    values: [
      {
        sql: `CASE WHEN streamed = 1 AND first_content_us IS NOT NULL THEN (${measures.ttft.value}) / 1e6 END`,
      },
    ],
  },
  {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Tokens of an attempt, as the service reports them.',
    bounds: powersOfFour,
    values: [
      { sql: 'prompt_tokens', tokenType: 'input' },
      { sql: 'completion_tokens', tokenType: 'output' },
    ],
  },
]

/** Attributes of spans and data points. */
export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  stream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  conversation: 'gen_ai.conversation.id',
  tokenType: 'gen_ai.token.type',
  error: 'error.type',
  status: 'http.response.status_code',
  address: 'server.address',
  port: 'server.port',
} as const

/** SQL over `attempts`: the operation of an endpoint; null for one that generates nothing. */
export const operationSql = `CASE endpoint WHEN 'embeddings' THEN 'embeddings'
  WHEN 'chat' THEN 'chat' WHEN 'messages' THEN 'chat' WHEN 'responses' THEN 'chat' END`

/** SQL over `attempts`: why an attempt failed; null for one that did not. */
export const errorSql = `CASE WHEN outcome <> 'ok'
  THEN coalesce(CASE WHEN outcome = 'http_error' THEN CAST(status AS VARCHAR) END, reason, outcome) END`
