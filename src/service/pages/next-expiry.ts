import { count } from './figures.ts'

/**
 * What expires next, in words: all credits whose time reads the same.
 *
 * @param words how a time, in epoch microseconds, is told
 */
export function nextExpiry(
  lots: readonly { readonly remaining: number; readonly expiresUs: number | null }[],
  words: (us: number) => string,
): string {
  const dated = lots.flatMap(({ remaining, expiresUs }) =>
    expiresUs === null ? [] : { remaining, expiresUs },
  )
  if (dated.length === 0) return 'none of them expire'
  // Not always the first to burn: the order of burning is the profile's.
  const next = words(Math.min(...dated.map(({ expiresUs }) => expiresUs)))
  const then = dated.filter(({ expiresUs }) => words(expiresUs) === next)
  const credits = then.reduce((sum, { remaining }) => sum + remaining, 0)
  return `${count(credits)} expire on ${next}`
}
