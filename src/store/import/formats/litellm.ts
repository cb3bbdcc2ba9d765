import { add, decimalText, readNumber, zero } from '../../../money/rational.ts'
import { isObject } from '../../../user/json.ts'
import { lookup } from '../../../user/lookup.ts'
import type { KnownFormat, Page } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, nextDay, tokensOf } from './row.ts'

const endpoints: Readonly<Record<string, string>> = lookup({
  completion: 'chat',
  acompletion: 'chat',
  anthropic_messages: 'messages',
  aresponses: 'responses',
  responses: 'responses',
})

const number = (value: unknown) => (first(value) === undefined ? undefined : Number(value))

function pageOf(document: Fields): Page | null {
  const meta = isObject(document.metadata) ? document.metadata : document
  const pages = number(first(meta.total_pages, document.total_pages))
  if (pages === undefined && meta.has_more === undefined) return null
  return {
    rows: first(document.data, document.results) === undefined ? 0 : items(document).length,
    number: number(first(meta.page, document.page)),
    pages,
    ...(typeof meta.has_more === 'boolean' ? { hasMore: meta.has_more } : {}),
  }
}

/** A page `{ data: […] }`, or one row. */
const items = (document: Fields) =>
  'data' in document || 'results' in document
    ? listOf(first(document.data, document.results))
    : [document]

/** LiteLLM's table LiteLLM_SpendLogs, as its API and its database export it. */
export const litellmSpend: KnownFormat = {
  name: 'LiteLLM spend logs',
  source: 'litellm',
  durations: 'times',
  recognises: (has) => has('request_id') && has('startTime') && has('spend'),
  fields:
    'request_id call_type api_key spend total_tokens prompt_tokens completion_tokens startTime endTime completionStartTime model model_id model_group custom_llm_provider api_base user metadata cache_hit cache_key request_tags team_id organization_id end_user requester_ip_address messages response session_id status proxy_server_request request_duration_ms mcp_namespaced_tool_name agent_id',
  needed: ['request_id', 'startTime', 'spend', 'prompt_tokens', 'completion_tokens', 'model'],
  items,
  page: (document) => ('data' in document ? pageOf(document) : null),
  *rows(row) {
    yield spendRow(row)
  },
}

function spendRow(row: Fields): NormalRow {
  const hasFailed = /^(failure|error)$/i.test(
    String(first(row.status, at(row.metadata, 'status')) ?? ''),
  )
  const tokens = tokensOf(row, 'litellm-log')
  // LiteLLM writes 0 tokens for a failure without a usage object.
  const isUnknown =
    hasFailed && !isObject(at(row.metadata, 'usage_object')) && !tokens.input && !tokens.output
  const callType = String(row.call_type ?? '')
  const code = first(at(row.metadata, 'error_information', 'error_code'))
  const isStatus = /^[1-5]\d\d$/.test(String(code ?? ''))
  // A plain answer has its first token at its end.
  const isStream = first(row.completionStartTime) !== row.endTime
  return {
    id: row.request_id as string,
    time: row.startTime,
    model: first(row.model_group, row.model),
    endpoint: endpoints[callType] ?? row.call_type,
    key: row.api_key,
    account: first(row.team_id, row.organization_id, row.end_user, row.user),
    cost: row.spend,
    unit: 'USD',
    ...(isUnknown ? {} : tokens),
    ...(hasFailed ? { outcome: 'http_error' } : {}),
    ...(hasFailed && code !== undefined ? (isStatus ? { status: code } : { errorCode: code }) : {}),
    began: row.startTime,
    ended: row.endTime,
    ...(isStream ? { firstToken: row.completionStartTime } : {}),
  }
}

/** LiteLLM's sums by day, `/user/daily/activity`. Its other breakdowns repeat the same sums. */
export const litellmActivity: KnownFormat = {
  name: 'LiteLLM daily activity',
  source: 'litellm',
  dimensions: [],
  recognises: (has) => has('results') && has('metrics') && has('breakdown') && has('api_requests'),
  fields: 'date metrics breakdown',
  needed: ['date', 'metrics'],
  items: (document) => listOf(document.results),
  page: pageOf,
  stated(document) {
    const total = first(at(document, 'metadata', 'total_spend'))
    const pages = number(at(document, 'metadata', 'total_pages'))
    if (total === undefined || (pages ?? 1) > 1) return null
    let sum = zero
    for (const result of listOf(document.results)) {
      for (const { cost } of activityRows(result))
        sum = add(sum, readNumber(String(cost ?? 0)) ?? zero)
    }
    return [String(total), decimalText(sum)]
  },
  // An item is sums of a day: read alone, as one of requests, it is none.
  rows: () => [],
  reader: () => ({
    *rows({ results }) {
      for (const result of listOf(results)) yield* activityRows(result)
    },
    end() {},
  }),
}

function* activityRows(result: Fields): Generator<NormalRow> {
  const models = at(result, 'breakdown', 'models')
  if (!isObject(models) || Object.keys(models).length === 0)
    return yield* activity(result, result.metrics, {})
  for (const [model, of] of Object.entries(models)) {
    const keys = at(of, 'api_key_breakdown')
    if (!isObject(keys) || Object.keys(keys).length === 0) {
      yield* activity(result, at(of, 'metrics'), { model })
      continue
    }
    for (const [key, ofKey] of Object.entries(keys)) {
      const team = first(at(ofKey, 'metadata', 'team_id'))
      yield* activity(result, at(ofKey, 'metrics'), { model, key, account: team })
    }
  }
}

function* activity(
  { date }: Fields,
  metrics: unknown,
  of: Partial<NormalRow>,
): Generator<NormalRow> {
  if (!isObject(metrics)) return
  const day = { time: date, end: nextDay(String(date)), unit: 'USD', ...of }
  const failed = number(metrics.failed_requests)
  const succeeded = number(metrics.successful_requests)
  const isSplit = failed !== undefined && succeeded !== undefined
  yield {
    ...day,
    requests: isSplit ? succeeded : metrics.api_requests,
    cost: metrics.spend,
    ...tokensOf(metrics, 'litellm-log'),
  }
  // `spend` is that of all requests, and a failure has no tokens that are known.
  if (isSplit && failed > 0) yield { ...day, requests: failed, outcome: 'http_error', cost: 0 }
}
