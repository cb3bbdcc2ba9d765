import { stagedCredits } from './fields.ts'

/** The columns of an event that an import compares: two lines are equal if all of these are. */
export const content = [
  'at_us',
  'type',
  'model',
  'endpoint',
  'key_fp',
  'account',
  'outcome',
  'status',
  'error_code',
  'credits',
  'unit',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'requests',
  'ttft_us',
  'latency_us',
] as const

/** The same over staged lines, with another SQL for the credits. */
export const stagedContent = (credits: string = stagedCredits): readonly string[] =>
  content.map((name) =>
    name === 'credits' ? credits : name === 'type' ? `coalesce(type, 'usage')` : name,
  )
