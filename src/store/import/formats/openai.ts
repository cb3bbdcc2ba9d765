import type { Json } from '../../../user/json.ts'
import { pageOf } from './anthropic.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, tokensOf } from './row.ts'

/** The results of buckets, each with its interval. A bucket without results covers its time: nothing was used. */
function resultsOf(document: Fields): readonly Fields[] {
  if (!('data' in document)) return [document]
  return listOf(document.data).flatMap(({ start_time, end_time, results, result }) => {
    const interval = { start_time, end_time }
    const rows = [...listOf(results), ...listOf(result)]
    return rows.length === 0 ? [interval] : rows.map((row) => ({ ...interval, ...row }))
  })
}

const sharedColumns = (row: Fields) => ({
  time: row.start_time,
  end: row.end_time,
  model: row.model,
  keyFp: row.api_key_id,
  account: row.project_id,
  user_id: row.user_id,
  service_tier: row.service_tier,
  batch: first(row.batch) === undefined ? undefined : String(row.batch).toLowerCase(),
})

/** Of a row of `organization.usage.embeddings.result`, embeddings. A table without objects is of completions. */
function endpointOf({ object }: Fields): string {
  const [, name = 'completions'] = /^organization\.usage\.(\w+)\./.exec(String(object ?? '')) ?? []
  return name === 'completions' ? 'chat' : name
}

/** OpenAI's usage: pages of the API, or CSV with the same columns. */
export const openaiUsage: KnownFormat = {
  name: 'OpenAI usage',
  source: 'openai',
  recognises: (has) => has('num_model_requests') && has('start_time'),
  dimensions: ['user_id', 'batch', 'service_tier'],
  needsWidth: true,
  fields:
    'object start_time end_time start_time_iso end_time_iso input_tokens output_tokens input_cached_tokens input_uncached_tokens input_audio_tokens output_audio_tokens input_text_tokens output_text_tokens input_cached_text_tokens input_image_tokens output_image_tokens input_cached_image_tokens input_cached_audio_tokens num_model_requests project_id user_id api_key_id model batch service_tier',
  needed: ['start_time', 'num_model_requests', 'input_tokens'],
  items: resultsOf,
  page: pageOf,
  *rows(row) {
    const whole = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, wholeText(value)]),
    )
    yield {
      ...sharedColumns(row),
      requests: row.num_model_requests,
      endpoint: endpointOf(row),
      ...tokensOf(whole, 'openai-usage'),
    }
  },
}

/** A table writes whole numbers with a column for unknown ones as `10.0`. */
const wholeText = (value: Json | undefined) =>
  typeof value === 'string' && /^\d+\.0+$/.test(value) ? value.slice(0, value.indexOf('.')) : value

/** OpenAI's older endpoint: sums of five minutes. */
export const openaiOlderUsage: KnownFormat = {
  name: 'OpenAI usage (older)',
  source: 'openai',
  recognises: (has) => has('n_requests') && has('n_context_tokens_total'),
  dimensions: ['operation', 'user_id'],
  fields:
    'organization_id organization_name aggregation_timestamp n_requests operation snapshot_id n_context_tokens_total n_cached_context_tokens_total n_generated_tokens_total api_key_id api_key_name api_key_redacted api_key_type email request_type usage_type project_id project_name user_id model batch',
  needed: ['aggregation_timestamp', 'n_requests', 'n_context_tokens_total'],
  items: (document) => ('data' in document ? listOf(document.data) : [document]),
  *rows(row) {
    yield {
      time: row.aggregation_timestamp,
      end: fiveMinutesAfter(first(row.aggregation_timestamp)),
      model: row.snapshot_id,
      keyFp: row.api_key_id,
      lastFour: row.api_key_redacted,
      account: first(row.project_id, row.organization_id),
      operation: row.operation,
      user_id: row.user_id,
      requests: row.n_requests,
      endpoint: row.operation === 'completion' ? 'chat' : row.operation,
      ...tokensOf(
        {
          input_tokens: row.n_context_tokens_total,
          input_cached_tokens: row.n_cached_context_tokens_total,
          output_tokens: row.n_generated_tokens_total,
        },
        'openai-usage',
      ),
    }
  },
}

/** A time in seconds, or in words, as the log has it. */
function fiveMinutesAfter(start: Json | undefined): number | string | undefined {
  const startS = Number(start ?? Number.NaN)
  if (Number.isFinite(startS)) return startS + 300
  const text = String(start)
  // A time without a zone is read in that of the mapping, as the start is.
  const startMs = Date.parse(isZoned(text) ? text : `${text}Z`)
  if (Number.isNaN(startMs)) return undefined
  const end = new Date(startMs + 300_000).toISOString()
  return isZoned(text) ? end : end.slice(0, -1)
}

const isZoned = (text: string) => /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !/\d:\d/.test(text)

/** OpenAI's usage of images and audio: requests without tokens. */
export const openaiMediaUsage: KnownFormat = {
  ...openaiUsage,
  name: 'OpenAI usage of images and audio',
  recognises: (has, text) =>
    has('num_model_requests') &&
    has('start_time') &&
    (['images', 'characters', 'seconds'].some(has) ||
      /organization\.usage\.(images|audio_speeches|audio_transcriptions)\.result/.test(text)),
  note: 'only requests are kept: the images, characters and seconds that are charged are not',
  dimensions: ['user_id', 'source', 'size'],
  fields:
    'object start_time end_time images characters seconds num_model_requests project_id user_id api_key_id model source size',
  needed: ['start_time', 'num_model_requests'],
  *rows(row) {
    const { object, source, size } = row
    const endpoint = object === undefined ? undefined : endpointOf(row)
    yield { ...sharedColumns(row), source, size, requests: row.num_model_requests, endpoint }
  },
}

/**
 * The model that an item of an invoice names: `gpt-4o-2024-08-06, cached input`, or the name alone. Tools, storage and credits
 * have other words.
 */
function modelOfItem(item: string): string | null {
  const [, before] = /^(.+), [a-z ]*(?:input|output|tokens)$/i.exec(item) ?? []
  if (before !== undefined) return before
  return /^[a-z][\w.:/]*-\S*\d\S*$/i.test(item) ? item : null
}

/** Results of costs. A table has the amount in two columns. */
const costsOf = (document: Fields): readonly Fields[] =>
  resultsOf(document).map(({ amount_value: value, amount_currency: currency, ...row }) =>
    value === undefined ? row : { ...row, amount: { value, currency } },
  )

/** OpenAI's costs by day: pages of the API, or CSV. They have no requests, and only newer ones have keys. */
export const openaiCosts: KnownFormat = {
  name: 'OpenAI costs',
  source: 'openai',
  recognises: (has, text) =>
    text.includes('organization.costs.result') || (has('amount_value') && has('line_item')),
  dimensions: ['line_item', 'organization_id'],
  fields:
    'object start_time end_time start_time_iso end_time_iso amount line_item project_id project_name organization_id organization_name api_key_id quantity quantity_unit user_id user_email api_source',
  needed: ['start_time', 'end_time', 'amount'],
  items: costsOf,
  page: pageOf,
  *rows(row) {
    yield {
      ...sharedColumns(row),
      model: first(row.model, modelOfItem(String(row.line_item ?? ''))) ?? null,
      line_item: row.line_item,
      organization_id: row.organization_id,
      cost: first(at(row.amount, 'value')),
      unit: String(first(at(row.amount, 'currency')) ?? 'usd').toUpperCase(),
    } satisfies NormalRow
  },
}
