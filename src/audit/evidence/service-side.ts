import type { Usage } from '../../tokens/usage.ts'

/** The counts of a usage in words: `14 input_uncached, 0 cache_read, 5 output_visible`. */
export function evidenceOfUsage(usage: Usage | null): string | null {
  if (usage === null) return null
  const counts = Object.entries(usage.parts).filter(([, count]) => count !== null && count !== 0)
  return counts.length === 0 ? '0 tokens' : counts.map(([part, n]) => `${n} ${part}`).join(', ')
}
