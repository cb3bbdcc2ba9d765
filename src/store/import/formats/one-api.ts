import { rational } from '../../../money/rational.ts'
import { isObject } from '../../../user/json.ts'
import { lookup } from '../../../user/lookup.ts'
import type { KnownFormat, Page } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, one, scaled, tokensOf } from './row.ts'

/** `{ data: { items, total } }`, `{ data: […] }`, a list, or one row. */
function rowsOf(document: Fields): readonly Fields[] {
  if (isObject(document.data)) return listOf(document.data.items)
  if (Array.isArray(document.data)) return listOf(document.data)
  return 'items' in document ? listOf(document.items) : [document]
}

function pageOf(document: Fields): Page | null {
  const data = isObject(document.data) ? document.data : document
  const total = first(data.total)
  return total === undefined || !('items' in data)
    ? null
    : { rows: listOf(data.items).length, total: Number(total) }
}

/** 500,000 quota are one US dollar, unless the operator changed it. */
const quota = rational(1n, 500_000n)

/** Types of a row; every other row is use, such as the test of a channel (5). */
const types: Readonly<Record<string, string>> = lookup({
  '1': 'purchase',
  '2': 'usage',
  '3': 'adjustment',
  '4': 'adjustment',
  '6': 'refund',
})

function common(row: Fields): NormalRow {
  const type = types[String(row.type)] ?? 'usage'
  const isSettlement = type === 'usage' && Number(row.quota) < 0
  return {
    time: row.created_at,
    // A negative amount of a request is a later settlement.
    type: isSettlement ? 'refund' : type,
    model: row.model_name,
    keyFp: row.token_name,
    account: first(row.username, row.user_id),
    cost: scaled(row.quota, quota),
    unit: 'USD',
  }
}

const shared =
  'id user_id created_at type content username token_name token_id model_name quota prompt_tokens completion_tokens channel channel_name channel_id request_id'

/** one-api's log. Type 5 is a test, which uses quota like a request. */
export const oneApi: KnownFormat = {
  name: 'one-api log',
  source: 'one-api',
  hasTypes: true,
  durations: 'ms',
  recognises: (has) => has('quota') && has('elapsed_time') && has('model_name'),
  fields: `${shared} elapsed_time is_stream system_prompt_reset`,
  needed: ['id', 'created_at', 'type', 'quota', 'prompt_tokens', 'completion_tokens'],
  items: rowsOf,
  page: pageOf,
  note: '500,000 quota count as one US dollar, as one-api sets by default',
  rows: one((row) => ({
    ...common(row),
    id: String(row.id),
    latencyMs: row.elapsed_time,
    ...tokensOf(row, 'new-api-log'),
  })),
}

/** new-api's log. Its ids are shown to users modulo 1,024, so a row is its content. */
export const newApi: KnownFormat = {
  name: 'new-api log',
  source: 'new-api',
  hasTypes: true,
  durations: 'ms',
  recognises: (has) => has('quota') && has('other') && has('model_name'),
  repeatsIds: true,
  fields: `${shared} use_time is_stream group ip other upstream_request_id`,
  needed: ['created_at', 'type', 'quota', 'prompt_tokens', 'completion_tokens'],
  items: rowsOf,
  page: pageOf,
  note: '500,000 quota count as one US dollar, as new-api sets by default',
  *rows(row) {
    const firstMs = Number(at(row.other, 'frt'))
    yield {
      ...common(row),
      ...(row.id === undefined ? {} : { id: String(row.id) }),
      ...(String(row.type) === '5' ? { outcome: 'http_error' } : {}),
      ...(firstMs > 0 ? { ttftMs: firstMs } : {}),
      latencyMs: first(row.use_time) === undefined ? undefined : Number(row.use_time) * 1000,
      ...tokensOf(row, 'new-api-log'),
    }
  },
}
