import type { StatedCounts, UsageForm } from './usage.ts'

/**
 * How a service, or a log, names its counts. Each field lists the places where the count may be, and the
 * first that is there counts. A place is a path such as `prompt_tokens_details.cached_tokens`; `list[AUDIO]`
 * is the element of a list with this `modality` or `ttl`, in capitals or not.
 *
 * The names are those of the services' own libraries and references, which docs/prices.md lists.
 */
export interface Dialect extends UsageForm {
  readonly counts: Readonly<Partial<Record<keyof StatedCounts, readonly string[]>>>
  /** Calls and seconds, by the name of their price. */
  readonly calls?: Readonly<Record<string, readonly string[]>>
}

export const inclusive = { input: 'all', output: 'all' } as const satisfies UsageForm
export const exclusive = { input: 'uncached', output: 'all' } as const satisfies UsageForm

export const anthropicCounts = {
  input: ['input_tokens'],
  cacheRead: ['cache_read_input_tokens'],
  cacheWrite: ['cache_creation_input_tokens'],
  cacheWrite5m: ['cache_creation.ephemeral_5m_input_tokens'],
  cacheWrite1h: ['cache_creation.ephemeral_1h_input_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details.thinking_tokens'],
} as const satisfies Dialect['counts']
