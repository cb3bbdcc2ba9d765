import { largest } from '../../user/extremes.ts'

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
