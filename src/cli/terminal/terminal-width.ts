import { wrapped } from '../../user/wrapped.ts'

/** Terminals that do not know their size say 0 columns and rows. */
const usual = { columns: 80, rows: 24 }

/** The size of a terminal. */
export function sizeOf({ columns, rows }: Partial<typeof usual>): typeof usual {
  return { columns: columns || usual.columns, rows: rows || usual.rows }
}

/** Columns of a terminal; endless where text goes into a file or a pipe. */
export const widthOf = (stream: { readonly columns?: number; readonly isTTY?: boolean }): number =>
  stream.isTTY ? sizeOf(stream).columns : Infinity

/**
 * Breaks lines between words where a terminal ends. The rest of a line is indented.
 *
 * @param hanging the indent of the rest; default: that of the line, and two columns
 */
export function fitted(
  text: string,
  stream: Parameters<typeof widthOf>[0],
  hanging?: string,
): string {
  return text
    .split('\n')
    .flatMap((line) => wrapped(line, hanging ?? `${/^ */.exec(line)![0]}  `, widthOf(stream)))
    .join('\n')
}
