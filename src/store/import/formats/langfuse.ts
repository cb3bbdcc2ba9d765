import { isObject, type Json, jsonOf } from '../../../user/json.ts'
import { lookup } from '../../../user/lookup.ts'
import type { KnownFormat, Page } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, tokensOf } from './row.ts'

const rowsOf = (document: Fields) => ('data' in document ? listOf(document.data) : [document])

function pageOf(document: Fields): Page | null {
  const meta = document.meta
  if (!isObject(meta)) return null
  if ('cursor' in meta) {
    return { rows: rowsOf(document).length, hasMore: first(meta.cursor) !== undefined }
  }
  if (first(meta.totalPages, meta.totalItems) === undefined) return null
  const number = (value: unknown) => (first(value) === undefined ? undefined : Number(value))
  return {
    rows: rowsOf(document).length,
    number: number(meta.page),
    pages: number(meta.totalPages),
    total: number(meta.totalItems),
  }
}

/** What a count of `usage_details` is: each is a part of its own, but for the total. */
function partOf(name: string): string | null {
  if (/cache_?(creation|write)/i.test(name)) return /1h/i.test(name) ? 'cacheWrite1h' : 'cacheWrite'
  if (/cache/i.test(name)) return 'cacheRead'
  if (/^(input|prompt)/i.test(name)) return 'input'
  if (!/^(output|completion)/i.test(name)) return null
  return /reasoning|thinking|thought/i.test(name) ? 'reasoning' : 'output'
}

/** The counts of an observation by part; those of an older one, if it counts tokens at all. */
function countsOf(row: Fields): Fields {
  const details = first(row.usage_details, row.usageDetails)
  const parsed = typeof details === 'string' ? jsonOf(details) : details
  const older =
    isObject(row.usage) && /^(TOKENS)?$/.test(String(row.usage.unit ?? '')) ? row.usage : {}
  const named = isObject(parsed) && Object.keys(parsed).length > 0 ? parsed : older
  const sums: Record<string, Json | undefined> = lookup()
  for (const [name, count] of Object.entries(named)) {
    const part = partOf(name)
    if (part === null || first(count) === undefined || /cost/i.test(name)) continue
    sums[part] = sums[part] === undefined ? count : Number(sums[part]) + Number(count)
  }
  if (sums.reasoning !== undefined) sums.output ??= 0
  return sums
}

const calls: ReadonlySet<string> = new Set(['GENERATION', 'EMBEDDING'])

/** Langfuse's observations: the blob export, or its API with names in camel case. Only calls of models are requests. */
export const langfuse: KnownFormat = {
  name: 'Langfuse observations',
  source: 'langfuse',
  hasVersions: true,
  durations: 'times',
  recognises: (has) =>
    (has('provided_model_name') && has('usage_details')) ||
    (has('usageDetails') && has('traceId') && has('startTime')),
  fields:
    'id trace_id project_id parent_observation_id type name environment start_time end_time completion_start_time level status_message version metadata input output provided_model_name internal_model_id model_parameters usage_details cost_details total_cost user_id session_id created_at updated_at event_ts prompt_id prompt_name prompt_version traceId projectId parentObservationId startTime endTime completionStartTime statusMessage model modelId modelParameters usageDetails costDetails calculatedTotalCost totalCost usage unit latency timeToFirstToken promptId promptName promptVersion inputPrice outputPrice totalPrice calculatedInputCost calculatedOutputCost createdAt updatedAt inputUsage outputUsage totalUsage tags release trace_name bookmarked public provided_usage_details provided_cost_details',
  needed: ['id', 'type'],
  items: rowsOf,
  page: pageOf,
  note: 'only generations and embeddings of Langfuse are requests',
  *rows(row) {
    if (calls.has(String(row.type))) yield call(row)
  },
}

function call(row: Fields): NormalRow {
  return {
    id: row.id as string,
    time: first(row.start_time, row.startTime),
    version: first(row.updated_at, row.updatedAt, row.event_ts),
    model: first(row.provided_model_name, row.model),
    endpoint: row.type === 'EMBEDDING' ? 'embeddings' : 'chat',
    account: first(row.user_id, row.userId),
    cost: first(
      row.total_cost,
      row.totalCost,
      row.calculatedTotalCost,
      at(first(row.cost_details, row.costDetails), 'total'),
    ),
    unit: 'USD',
    ...(row.level === 'ERROR' ? { outcome: 'http_error' } : {}),
    began: first(row.start_time, row.startTime),
    firstToken: first(row.completion_start_time, row.completionStartTime),
    ended: first(row.end_time, row.endTime),
    ...tokensOf(countsOf(row), 'langfuse'),
  }
}
