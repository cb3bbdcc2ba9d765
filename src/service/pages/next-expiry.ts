import { smallest } from '../../user/extremes.ts'
import { count } from './figures.ts'

/**
 * Describes the next expiry: all credits whose formatted time is the same.
 *
 * @param words formats a time in epoch microseconds
 */
export function nextExpiry(
  lots: readonly { readonly remaining: number; readonly expiresUs: number | null }[],
  words: (us: number) => string,
): string {
  const dated = lots.flatMap(({ remaining, expiresUs }) =>
    expiresUs === null ? [] : { remaining, expiresUs },
  )
  if (dated.length === 0) return 'none of them expire'
  // These need not burn first, because the profile decides the order of burning.
  const next = words(smallest(dated.map(({ expiresUs }) => expiresUs)))
  const then = dated.filter(({ expiresUs }) => words(expiresUs) === next)
  const credits = then.reduce((sum, { remaining }) => sum + remaining, 0)
  return `${count(credits)} expire on ${next}`
}
