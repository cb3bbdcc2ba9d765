import { largest } from '../../user/extremes.ts'
/** A time with about three digits and a suitable unit. */
export function duration(us: number): string {
  if (us < 1000) return `${us.toFixed(0)} us`
  if (us < 10_000) return `${(us / 1000).toFixed(2)} ms`
  if (us < 1e6) return `${(us / 1000).toFixed(us < 100_000 ? 1 : 0)} ms`
  return `${(us / 1e6).toFixed(us < 10e6 ? 2 : 1)} s`
}

/** Aligns columns: words to the left, figures to the right. The first column has words. */
export function table(
  rows: readonly (readonly string[])[],
  others: 'words' | 'figures' = 'figures',
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => largest(rows.map((row) => row[at]!.length)))
  return rows.map((row) =>
    row
      .map((cell, at) =>
        at === 0 || others === 'words' ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!),
      )
      .join('  ')
      .trimEnd(),
  )
}
