import { began, ended } from './row-sql.ts'

/** Measures of other tools, from the same time stamps; successes only. */
export const foreignMeasures = {
  event_ttft_us: {
    sql: `coalesce(first_event_us, first_content_us) - ${began}`,
    summary: 'to the first event of any kind (vLLM, evalscope)',
  },
  tail_tpot_us: {
    sql: `CASE WHEN completion_tokens >= 2 THEN (${ended} - coalesce(first_event_us, first_content_us)) / (completion_tokens - 1) END`,
    summary: 'the time after the first event, divided by the tokens minus one (vLLM, evalscope)',
  },
  spread_tpot_us: {
    sql: `CASE WHEN completion_tokens >= 1 THEN (coalesce(last_content_us, first_content_us) - ${began}) / completion_tokens END`,
    summary: 'the time to the last text divided by the tokens, including TTFT (GuideLLM)',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>
