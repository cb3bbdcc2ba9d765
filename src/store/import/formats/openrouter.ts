import { isObject } from '../../../user/json.ts'
import type { KnownFormat } from './format.ts'
import { type Fields, first, isTrue, listOf, nextDay, one, tokensOf } from './row.ts'

const rowsOf = (document: Fields) =>
  Array.isArray(document.data)
    ? listOf(document.data)
    : isObject(document.data)
      ? [document.data]
      : [document]

/** OpenRouter's activity as CSV: a row for each generation. `cost_total` contains the other costs. */
export const openrouterCsv: KnownFormat = {
  name: 'OpenRouter generations',
  source: 'openrouter',
  durations: 'ms',
  recognises: (has) => has('generation_id') && has('cost_total'),
  fields:
    'generation_id created_at cost_total cost_web_search cost_cache cost_file_processing byok_usage_inference tokens_prompt tokens_completion tokens_reasoning tokens_cached model_permaslug provider_name variant cancelled streamed user finish_reason_raw finish_reason_normalized generation_time_ms time_to_first_token_ms app_name api_key_name num_media_prompt num_media_completion num_search_results',
  needed: ['generation_id', 'created_at', 'cost_total', 'tokens_prompt', 'tokens_completion'],
  items: rowsOf,
  rows: one((row) => ({
    id: row.generation_id as string,
    time: row.created_at,
    model: row.model_permaslug,
    keyFp: row.api_key_name,
    account: first(row.user, row.app_name),
    cost: row.cost_total,
    unit: 'USD',
    outcome: isTrue(row.cancelled) ? 'aborted' : 'ok',
    ...(isTrue(row.streamed) ? { ttftMs: row.time_to_first_token_ms } : {}),
    latencyMs: row.generation_time_ms,
    ...tokensOf(row, 'openrouter-log'),
  })),
}

/** OpenRouter's activity API: sums of UTC days. */
export const openrouterActivity: KnownFormat = {
  name: 'OpenRouter activity',
  source: 'openrouter',
  recognises: (has) => has('model_permaslug') && has('requests') && has('usage') && has('date'),
  dimensions: ['endpoint_id', 'provider_name'],
  note: 'the activity of OpenRouter covers the last 30 complete UTC days',
  fields:
    'date model model_permaslug endpoint_id provider_name usage byok_usage_inference requests byok_requests prompt_tokens completion_tokens reasoning_tokens',
  needed: ['date', 'model_permaslug', 'usage', 'requests', 'prompt_tokens', 'completion_tokens'],
  items: rowsOf,
  rows: one((row) => ({
    time: String(row.date ?? '').slice(0, 10),
    end: nextDay(String(row.date ?? '')),
    model: row.model_permaslug,
    endpoint_id: row.endpoint_id,
    provider_name: row.provider_name,
    requests: row.requests,
    cost: row.usage,
    unit: 'USD',
    ...tokensOf(row, 'openrouter-log'),
  })),
}

/** One generation of OpenRouter, or a list of them. */
export const openrouterGeneration: KnownFormat = {
  name: 'OpenRouter generation',
  source: 'openrouter',
  durations: 'ms',
  recognises: (has) => has('native_tokens_prompt') && has('total_cost'),
  fields:
    'id upstream_id total_cost cache_discount upstream_inference_cost created_at model app_id streamed cancelled provider_name latency moderation_latency generation_time finish_reason native_finish_reason tokens_prompt tokens_completion native_tokens_prompt native_tokens_completion native_tokens_completion_images native_tokens_reasoning native_tokens_cached num_media_prompt num_input_audio_prompt num_media_completion num_search_results num_fetches web_search_engine origin usage is_byok external_user api_type router provider_responses request_id session_id user_agent http_referer service_tier preset_id',
  needed: ['id', 'created_at', 'total_cost', 'native_tokens_prompt'],
  items: rowsOf,
  rows: one((row) => ({
    id: row.id as string,
    time: row.created_at,
    model: row.model,
    account: row.external_user,
    cost: row.total_cost,
    unit: 'USD',
    outcome: isTrue(row.cancelled) ? 'aborted' : 'ok',
    ...(isTrue(row.streamed) ? { ttftMs: row.latency } : {}),
    latencyMs: row.generation_time,
    ...tokensOf(row, 'openrouter-log'),
  })),
}
