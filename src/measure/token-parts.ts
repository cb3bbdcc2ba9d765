/** SQL: a whole without its parts. `greatest` alone ignores null, and would make 0 of an unknown whole. */
const minus = (whole: string, ...parts: readonly string[]) =>
  `CASE WHEN ${whole} IS NOT NULL THEN greatest(0, ${[whole, ...parts.map((part) => `coalesce(${part}, 0)`)].join(' - ')}) END`

/**
 * The disjoint parts of usage that are not columns of an attempt, so that with those columns each token is in
 * one part (`src/tokens/usage.ts`). Null: not reported; its tokens are then counted in the part that would hold it.
 */
export const tokenParts = {
  input_uncached_tokens: {
    sql: minus(
      'prompt_tokens',
      'cached_tokens',
      'cache_write_tokens',
      'cache_write_1h_tokens',
      'input_audio_tokens',
      'input_image_tokens',
    ),
    summary: 'text of the prompt that no cache had: `prompt_tokens` without the other parts',
  },
  cache_read_tokens: {
    sql: minus('cached_tokens', 'cache_read_audio_tokens'),
    summary: 'text of the prompt from a cache: `cached_tokens` without `cache_read_audio_tokens`',
  },
  output_visible_tokens: {
    sql: minus(
      'completion_tokens',
      'reasoning_tokens',
      'output_audio_tokens',
      'output_image_tokens',
    ),
    summary: 'generated text that is shown: `completion_tokens` without the other parts',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>
