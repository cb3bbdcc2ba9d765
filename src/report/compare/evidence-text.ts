import type { Comparison } from './compare.ts'
import { invalidOf } from './invalid-side.ts'

/** What the intervals of a comparison are of; empty for none. */
export function evidenceText(comparison: Comparison): string {
  const { isPaired, repeats, searches } = comparison
  if (invalidOf(comparison) !== null) return ''
  if (isPaired) return 'Each request went to both: the intervals of times are of pairs.'
  if (searches !== null) return ''
  return repeats === null
    ? 'The intervals are of these two runs; repeats were not made.'
    : `The intervals are between ${repeats.a} runs of a and ${repeats.b} of b.`
}
