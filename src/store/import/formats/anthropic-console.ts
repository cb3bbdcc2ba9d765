import type { KnownFormat } from './format.ts'
import { type Fields, nextDay, tokensOf } from './row.ts'

const day = (row: Fields) => {
  const time = String(row.usage_date_utc ?? '')
  return time.includes(':') ? { time, end: nextHour(time) } : { time, end: nextDay(time) }
}

function nextHour(time: string): string {
  const ms = Date.parse(`${time.replace(' ', 'T').replace(/(Z|[+-]\d\d:?\d\d)?$/, '')}Z`)
  return Number.isNaN(ms) ? time : new Date(ms + 3600e3).toISOString()
}

/** The tables of Anthropic's console name keys and workspaces. */
const ofTable = (row: Fields) => ({
  ...day(row),
  keyFp: row.api_key,
  account: row.workspace,
  usage_type: row.usage_type,
  context_window: row.context_window,
  inference_geo: row.inference_geo,
  speed: row.speed,
})

/** The table of tokens that Anthropic's console exports. */
export const anthropicTokensTable: KnownFormat = {
  name: "tokens of Anthropic's console",
  source: 'anthropic',
  recognises: (has) => has('usage_date_utc') && has('usage_output_tokens'),
  dimensions: ['usage_type', 'context_window', 'inference_geo', 'speed'],
  fields:
    'usage_date_utc model_version api_key workspace usage_type context_window usage_input_tokens_no_cache usage_input_tokens_cache_write usage_input_tokens_cache_write_5m usage_input_tokens_cache_write_1h usage_input_tokens_cache_read usage_output_tokens web_search_count inference_geo speed',
  needed: ['usage_date_utc', 'usage_input_tokens_no_cache', 'usage_output_tokens'],
  *rows(row) {
    const counts = {
      uncached_input_tokens: row.usage_input_tokens_no_cache,
      cache_read_input_tokens: row.usage_input_tokens_cache_read,
      cache_creation_input_tokens: row.usage_input_tokens_cache_write,
      cache_creation: {
        ephemeral_5m_input_tokens: row.usage_input_tokens_cache_write_5m,
        ephemeral_1h_input_tokens: row.usage_input_tokens_cache_write_1h,
      },
      output_tokens: row.usage_output_tokens,
    }
    yield { ...ofTable(row), model: row.model_version, ...tokensOf(counts, 'anthropic-report') }
  },
}

/** The table of costs that Anthropic's console exports: in dollars, unlike the report. */
export const anthropicCostsTable: KnownFormat = {
  name: "costs of Anthropic's console",
  source: 'anthropic',
  recognises: (has) => has('usage_date_utc') && has('cost_usd') && has('token_type'),
  dimensions: ['usage_type', 'context_window', 'inference_geo', 'speed', 'token_type', 'cost_type'],
  fields:
    'usage_date_utc model workspace api_key usage_type context_window token_type cost_usd list_price_usd cost_type inference_geo speed api_key_id api_key_status',
  needed: ['usage_date_utc', 'cost_usd'],
  *rows(row) {
    const { model, token_type, cost_type } = row
    yield { ...ofTable(row), model, token_type, cost_type, cost: row.cost_usd, unit: 'USD' }
  },
}
