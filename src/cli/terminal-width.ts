/** Terminals that do not know their size say 0 columns and rows. */
const usual = { columns: 80, rows: 24 }

/** The size of a terminal. */
export function sizeOf({ columns, rows }: Partial<typeof usual>): typeof usual {
  return { columns: columns || usual.columns, rows: rows || usual.rows }
}

/** Columns of a terminal; endless where text goes into a file or a pipe. */
export function widthOf(stream: { readonly columns?: number; readonly isTTY?: boolean }): number {
  return stream.isTTY ? sizeOf(stream).columns : Infinity
}
