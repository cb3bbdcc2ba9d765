import { readFileSync } from 'node:fs'
import { beginningOf, firstRecord } from './csv-header.ts'
import { documentsOf } from './documents.ts'
import { type Mapping, mappingFrom } from './mapping.ts'

/** A log that needs no mapping. */
export interface KnownLog {
  readonly source: string
  readonly mapping: Mapping
  readonly format: 'jsonl' | 'csv'
  /** The lines, if the file nests them in another structure; null if the file can be read directly. */
  readonly lines: readonly object[] | null
}

/** LiteLLM's table LiteLLM_SpendLogs, as its API and its database export it. Costs are US dollars. */
const litellm = {
  id: 'request_id',
  time: { column: 'startTime', unit: 'auto', timezone: 'UTC' },
  model: 'model',
  endpoint: {
    column: 'call_type',
    values: { completion: 'chat', acompletion: 'chat', anthropic_messages: 'messages' },
  },
  key: 'api_key',
  account: 'team_id',
  credits: 'spend',
  promptTokens: 'prompt_tokens',
  completionTokens: 'completion_tokens',
  outcome: { column: 'status', values: { success: 'ok', failure: 'http_error' } },
  ttft: { from: 'startTime', to: 'completionStartTime' },
  latency: { from: 'startTime', to: 'endTime' },
} as const

/** A bucket of OpenAI's usage: many requests, at the bucket's start. */
const openai = {
  id: 'id',
  time: { column: 'start_time', unit: 's', timezone: 'UTC' },
  model: 'model',
  endpoint: { column: 'object', values: { 'organization.usage.completions.result': 'chat' } },
  keyFp: 'api_key_id',
  account: 'project_id',
  promptTokens: 'input_tokens',
  cachedTokens: 'input_cached_tokens',
  completionTokens: 'output_tokens',
  requests: 'num_model_requests',
} as const

/** Buckets of OpenAI's older usage endpoint. */
const openaiOlder = {
  id: 'id',
  time: { column: 'aggregation_timestamp', unit: 's', timezone: 'UTC' },
  model: 'snapshot_id',
  endpoint: { column: 'operation', values: { completion: 'chat' } },
  keyFp: 'api_key_id',
  account: 'organization_id',
  promptTokens: 'n_context_tokens_total',
  cachedTokens: 'n_cached_context_tokens_total',
  completionTokens: 'n_generated_tokens_total',
  requests: 'n_requests',
} as const

/** Recognises a known log by its beginning; null for any other file. */
export function knownLog(file: string): KnownLog | null {
  const text = beginningOf(file)
  const has = (name: string) => new RegExp(`"${name}"\\s*:`).test(text)
  if (!/^\s*[[{]/.test(text)) return knownCsv(text)
  if (has('request_id') && has('startTime') && has('spend')) {
    const isPage = /^\s*\{\s*"data"\s*:\s*\[/.test(text)
    const lines = isPage ? listOf(pagesOf(file)[0], 'data') : null
    return { source: 'litellm', mapping: mappingFrom(litellm), format: 'jsonl', lines }
  }
  if (has('num_model_requests') && has('start_time')) {
    const buckets = pagesOf(file).flatMap((page) => listOf(page, 'data'))
    const rows = buckets.flatMap((bucket) =>
      [...listOf(bucket, 'results'), ...listOf(bucket, 'result')].map((result) => ({
        start_time: bucket.start_time,
        ...result,
      })),
    )
    const lines = numbered(rows, 'num_model_requests')
    return { source: 'openai', mapping: mappingFrom(openai), format: 'jsonl', lines }
  }
  if (has('n_requests') && has('n_context_tokens_total')) {
    const lines = numbered(
      pagesOf(file).flatMap((page) => listOf(page, 'data')),
      'n_requests',
    )
    return { source: 'openai', mapping: mappingFrom(openaiOlder), format: 'jsonl', lines }
  }
  return null
}

function knownCsv(text: string): KnownLog | null {
  const names = firstRecord(text, ',')
  const isOf = (fields: readonly string[]) => fields.every((name) => names.includes(name))
  // A column may be absent in other versions of the tool.
  const present = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).filter(([, at]) =>
        (typeof at === 'string' ? [at] : 'from' in at ? [at.from, at.to] : [at.column]).every(
          (name: string) => names.includes(name),
        ),
      ),
    )
  if (isOf(['request_id', 'startTime', 'spend'])) {
    return { source: 'litellm', mapping: mappingFrom(present(litellm)), format: 'csv', lines: null }
  }
  if (isOf(['start_time', 'num_model_requests', 'input_tokens'])) {
    const id = [
      'start_time',
      'project_id',
      'user_id',
      'api_key_id',
      'model',
      'batch',
      'service_tier',
    ]
    const fields = { ...present(openai), id: id.filter((name) => names.includes(name)) }
    return { source: 'openai', mapping: mappingFrom(fields), format: 'csv', lines: null }
  }
  return null
}

type Fields = Readonly<Record<string, unknown>>

/** The documents of a file: one, one per line, or the elements of a list. */
function pagesOf(file: string): readonly Fields[] {
  const documents = documentsOf(readFileSync(file, 'utf8'), file)
  return documents.flat() as readonly Fields[]
}

function listOf(value: Fields | undefined, name: string): readonly Fields[] {
  const list = value?.[name]
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : []
}

/** Buckets have no ids. An id is made of their dimensions, with a number if several share them. */
function numbered(rows: readonly Fields[], requests: string): readonly object[] {
  const seen = new Map<string, number>()
  return rows.flatMap((row) => {
    if (row[requests] === 0) return []
    const of = Object.entries(row).flatMap(([name, value]) =>
      typeof value === 'number' && !/time/.test(name) ? [] : [`${value ?? ''}`],
    )
    const key = of.join('/')
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return [{ ...row, id: nth === 0 ? key : `${key}#${nth + 1}` }]
  })
}
