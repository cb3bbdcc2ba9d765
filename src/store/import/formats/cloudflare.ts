import { isObject } from '../../../user/json.ts'
import type { KnownFormat, Page } from './format.ts'
import { at, type Fields, first, listOf, one, tokensOf } from './row.ts'

const rowsOf = (document: Fields) => ('result' in document ? listOf(document.result) : [document])

function pageOf(document: Fields): Page | null {
  const info = document.result_info
  if (!isObject(info) || first(info.total_count) === undefined) return null
  return { rows: rowsOf(document).length, total: Number(info.total_count) }
}

/** Cloudflare's log of its AI gateway. `cached` means that the gateway answered: a request that cost nothing. */
export const cloudflareLogs: KnownFormat = {
  name: 'Cloudflare AI Gateway logs',
  source: 'cloudflare',
  durations: 'ms',
  recognises: (has) => has('tokens_in') && has('tokens_out'),
  fields:
    'id created_at provider model model_type path request_type request_content_type response_content_type status_code success cached tokens_in tokens_out cost custom_cost duration metadata step request_size response_size request_head request_head_complete response_head response_head_complete',
  needed: ['id', 'created_at', 'tokens_in', 'tokens_out', 'status_code'],
  items: rowsOf,
  page: pageOf,
  rows: one((row) => ({
    id: row.id as string,
    time: row.created_at,
    model: row.model,
    endpoint: row.path === undefined ? undefined : `/${String(row.path)}`,
    account: first(at(row.metadata, 'account'), at(row.metadata, 'user')),
    keyFp: at(row.metadata, 'key'),
    status: row.status_code,
    cost: row.cost,
    unit: 'USD',
    latencyMs: row.duration,
    ...tokensOf({ input_tokens: row.tokens_in, output_tokens: row.tokens_out }, 'openai-usage'),
  })),
}

/** Cloudflare's Logpush of the gateway: no ids. */
export const cloudflareLogpush: KnownFormat = {
  name: 'Cloudflare Logpush',
  source: 'cloudflare',
  durations: 'ms',
  withoutIds: true,
  recognises: (has) => has('RateLimited') && has('Metrics') && has('RequestedModel'),
  fields:
    'Timestamp Model RequestedModel Provider RequestedProvider Endpoint Gateway StatusCode Cached RateLimited Metadata Metrics RequestBody ResponseBody MetadataValues',
  needed: ['Timestamp', 'StatusCode', 'Metrics'],
  *rows(row) {
    const metrics = row.Metrics
    const tokens = {
      input_tokens: first(at(metrics, 'tokens_in'), at(metrics, 'tokensIn')),
      output_tokens: first(at(metrics, 'tokens_out'), at(metrics, 'tokensOut')),
    }
    yield {
      time: row.Timestamp,
      model: first(row.RequestedModel, row.Model),
      endpoint: row.Endpoint,
      account: first(at(row.Metadata, 'account'), at(row.Metadata, 'user')),
      status: row.StatusCode,
      cost: at(metrics, 'cost'),
      unit: 'USD',
      latencyMs: at(metrics, 'duration'),
      ...tokensOf(tokens, 'openai-usage'),
    }
  },
}
