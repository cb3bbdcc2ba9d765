import type { KnownFormat } from './format.ts'
import { nextDay } from './litellm.ts'
import { type Fields, first, listOf, tokensOf } from './row.ts'

const rowsOf = (document: Fields) =>
  'results' in document || 'data' in document
    ? listOf(first(document.results, document.data))
    : [document]

/** The report of Vercel's gateway: sums of UTC days. Its tags overlap, so sums by tag do not add up. */
export const vercel: KnownFormat = {
  name: 'Vercel report',
  source: 'vercel',
  recognises: (has) => has('market_cost') && has('request_count'),
  dimensions: ['provider', 'credential_type', 'tag'],
  fields:
    'day hour model provider user tag credential_type total_cost market_cost surcharge_cost input_tokens output_tokens cached_input_tokens cache_creation_input_tokens reasoning_tokens request_count api_key_id api_key_name'.split(
      ' ',
    ),
  needed: ['day', 'total_cost', 'input_tokens', 'output_tokens', 'request_count'],
  items: rowsOf,
  *rows(document) {
    for (const row of rowsOf(document)) {
      const day = String(row.day ?? '').slice(0, 10)
      yield {
        time: day,
        end: nextDay(day),
        model: row.model,
        keyFp: first(row.api_key_name, row.api_key_id),
        account: row.user,
        provider: row.provider,
        credential_type: row.credential_type,
        tag: row.tag,
        requests: row.request_count,
        cost: row.total_cost,
        unit: 'USD',
        ...tokensOf(row, 'vercel'),
      }
    }
  },
}
