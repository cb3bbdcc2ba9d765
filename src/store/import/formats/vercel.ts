import { hourMs } from '../../../user/durations.ts'
import type { KnownFormat } from './format.ts'
import { type Fields, first, listOf, nextDay, one, tokensOf } from './row.ts'

const rowsOf = (document: Fields) =>
  'results' in document || 'data' in document
    ? listOf(first(document.results, document.data))
    : [document]

/** A row is a sum of an hour, if it names one, or of a day. */
function intervalOf({ day, hour }: Fields): { readonly time: unknown; readonly end: unknown } {
  if (first(hour) === undefined) {
    const date = String(day ?? '').slice(0, 10)
    return { time: date, end: nextDay(date) }
  }
  const isWithDay = /^\d{1,2}$/.test(String(hour)) && first(day) !== undefined
  const text = isWithDay
    ? `${String(day).slice(0, 10)}T${String(hour).padStart(2, '0')}:00:00Z`
    : String(hour)
        .replace(' ', 'T')
        .replace(/(T[\d:.]+)$/, '$1Z')
  const ms = Date.parse(text)
  return Number.isNaN(ms)
    ? { time: hour, end: hour }
    : { time: new Date(ms).toISOString(), end: new Date(ms + hourMs).toISOString() }
}

/** The report of Vercel's gateway: sums of UTC days or hours. Its tags overlap, so sums by tag do not add up. */
export const vercel: KnownFormat = {
  name: 'Vercel report',
  source: 'vercel',
  recognises: (has) => has('market_cost') && has('request_count'),
  overlappingColumn: 'tag',
  dimensions: ['provider', 'credential_type', 'tag'],
  fields:
    'day hour model provider user tag credential_type total_cost market_cost surcharge_cost input_tokens output_tokens cached_input_tokens cache_creation_input_tokens reasoning_tokens request_count api_key_id api_key_name',
  needed: ['total_cost', 'input_tokens', 'output_tokens', 'request_count'],
  items: rowsOf,
  rows: one((row) => ({
    ...intervalOf(row),
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
  })),
}
