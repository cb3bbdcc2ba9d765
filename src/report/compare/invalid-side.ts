import type { Validity } from '../../store/runs/run-end.ts'

/** The runs that no figure can be taken from; null for none. */
export function invalidOf({
  a,
  b,
}: Readonly<Record<'a' | 'b', { readonly verdict: Validity | null }>>): string | null {
  const names = (
    [
      ['a', a],
      ['b', b],
    ] as const
  ).flatMap(([name, { verdict }]) => (verdict === 'invalid' ? [name] : []))
  if (names.length === 0) return null
  return names.length === 1 ? `run ${names[0]} is INVALID` : 'both runs are INVALID'
}
