import { rational } from '../../../money/rational.ts'
import { isObject } from '../../../user/json.ts'
import { words } from '../../../user/words.ts'
import type { KnownFormat, Page } from './format.ts'
import { at, type Fields, first, listOf, one, scaled, tokensOf } from './row.ts'

/** A page of a usage API that says whether more follow. */
export function pageOf(document: Fields): Page | null {
  if (typeof document.has_more !== 'boolean' && document.next_page === undefined) return null
  return {
    rows: listOf(document.data).length,
    hasMore: document.has_more === true || first(document.next_page) !== undefined,
  }
}

function resultsOf(document: Fields): readonly Fields[] {
  if (!('data' in document)) return [document]
  return listOf(document.data).flatMap((bucket) => {
    const { starting_at, ending_at } = bucket
    const interval = { starting_at, ending_at }
    if (!('results' in bucket)) return [bucket]
    const rows = listOf(bucket.results)
    // An empty bucket states that nothing was used.
    return rows.length === 0 ? [interval] : rows.map((row) => ({ ...interval, ...row }))
  })
}

const sharedColumns = (row: Fields) => ({
  time: row.starting_at,
  end: row.ending_at,
  model: row.model,
  // Whoever signs in without a key is named by their account, a person's or a service's.
  keyFp: first(row.api_key_id, row.account_id, row.service_account_id),
  account: row.workspace_id,
  service_tier: row.service_tier,
  context_window: row.context_window,
  inference_geo: row.inference_geo,
})

/** Anthropic's usage report. It has no number of requests. */
export const anthropicUsage: KnownFormat = {
  name: 'Anthropic usage report',
  source: 'anthropic',
  recognises: (has) => has('uncached_input_tokens') && has('starting_at') && !has('group'),
  dimensions: ['service_tier', 'context_window', 'inference_geo', 'speed'],
  fields:
    'starting_at ending_at uncached_input_tokens cache_creation cache_read_input_tokens output_tokens server_tool_use api_key_id workspace_id account_id service_account_id model service_tier context_window inference_geo speed',
  needed: ['starting_at', 'ending_at', 'uncached_input_tokens', 'output_tokens'],
  items: resultsOf,
  page: pageOf,
  *rows(row) {
    yield { ...sharedColumns(row), speed: row.speed, ...tokensOf(row, 'anthropic-report') }
  },
}

const cent = rational(1n, 100n)

/** Anthropic's cost report: decimal text in cents. */
export const anthropicCosts: KnownFormat = {
  name: 'Anthropic cost report',
  source: 'anthropic',
  recognises: (has) =>
    has('amount') && has('cost_type') && has('description') && has('starting_at'),
  dimensions: words('service_tier context_window inference_geo description cost_type token_type'),
  note: 'the cost report of Anthropic does not have the costs of the priority tier',
  fields:
    'starting_at ending_at amount currency cost_type description model service_tier token_type workspace_id context_window inference_geo',
  needed: ['starting_at', 'ending_at', 'amount'],
  items: resultsOf,
  page: pageOf,
  rows: one((row) => ({
    ...sharedColumns(row),
    description: row.description,
    cost_type: row.cost_type,
    token_type: row.token_type,
    cost: scaled(row.amount, cent),
    unit: String(row.currency ?? 'USD').toUpperCase(),
  })),
}

/** Anthropic's analytics of usage: rows with a group and its usage. */
export const anthropicAnalytics: KnownFormat = {
  name: 'Anthropic analytics',
  source: 'anthropic',
  recognises: (has) => has('group') && has('usage') && has('starting_at') && has('total_tokens'),
  dimensions: words('service_tier context_window inference_geo user_id product token_type speed'),
  fields: 'starting_at ending_at group usage cost amount currency',
  needed: ['starting_at', 'ending_at', 'usage'],
  items: resultsOf,
  page: pageOf,
  *rows(row) {
    const group = isObject(row.group) ? row.group : {}
    const usage = isObject(row.usage) ? row.usage : {}
    yield {
      ...sharedColumns({ ...group, starting_at: row.starting_at, ending_at: row.ending_at }),
      user_id: group.user_id,
      product: group.product,
      token_type: group.token_type,
      speed: group.speed,
      requests: first(usage.request_count, usage.requests, usage.num_requests),
      ...tokensOf(usage, 'anthropic-report'),
      ...(at(row, 'amount') === undefined
        ? {}
        : { cost: scaled(row.amount, cent), unit: String(row.currency ?? 'USD').toUpperCase() }),
    }
  },
}
