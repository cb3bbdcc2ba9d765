/** A time with about three digits and a suitable unit. */
export function duration(us: number): string {
  if (us < 1000) return `${us.toFixed(0)} us`
  if (us < 10_000) return `${(us / 1000).toFixed(2)} ms`
  if (us < 1e6) return `${(us / 1000).toFixed(us < 100_000 ? 1 : 0)} ms`
  return `${(us / 1e6).toFixed(us < 10e6 ? 2 : 1)} s`
}
