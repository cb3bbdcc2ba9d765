import { rational } from '../../../money/rational.ts'
import type { KnownFormat } from './format.ts'
import { type Fields, first, listOf, scaled, tokensOf } from './row.ts'

const rowsOf = (document: Fields) => ('data' in document ? listOf(document.data) : [document])

const billionth = rational(1n, 1_000_000_000n)

/** Helicone's requests. `cost` is in billionths of a US dollar, `costUSD` in US dollars. */
export const helicone: KnownFormat = {
  name: 'Helicone requests',
  source: 'helicone',
  durations: 'ms',
  recognises: (has) => has('request_created_at') && has('response_status'),
  fields:
    'response_id response_created_at response_status response_body response_model request_id request_created_at request_body request_path request_user_id request_properties request_model model_override provider target_url delay_ms time_to_first_token total_tokens prompt_tokens prompt_cache_write_tokens prompt_cache_read_tokens prompt_audio_tokens completion_tokens completion_audio_tokens reasoning_tokens prompt_id costUSD cost cache_enabled cache_reference_id country_code properties scores asset_ids assets llmSchema model prompt_version feedback_created_at feedback_id feedback_rating signed_body_url storage_location updated_at gateway_endpoint_version ai_gateway_body_mapping is_passthrough_billing',
  needed: ['request_id', 'request_created_at', 'response_status', 'prompt_tokens'],
  items: rowsOf,
  *rows(row) {
    const status = Number(row.response_status)
    yield {
      id: row.request_id as string,
      time: row.request_created_at,
      model: first(row.model_override, row.request_model, row.response_model, row.model),
      endpoint: row.request_path,
      account: row.request_user_id,
      cost: first(row.costUSD, scaled(row.cost, billionth)),
      unit: 'USD',
      // Helicone writes a status below 0 for a request that ended without one.
      ...(status >= 100 ? { status: row.response_status } : { outcome: 'aborted' }),
      ttftMs: row.time_to_first_token,
      latencyMs: row.delay_ms,
      ...tokensOf(row, 'helicone'),
    }
  },
}
