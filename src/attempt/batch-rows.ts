import { Batch, type BatchMessage, nullCount, nullWord } from './batch.ts'
import { type AttemptRow, attemptColumns, type ColumnName, columnNames } from './columns.ts'
import { wholeMicros } from './whole-micros.ts'

/**
 * The rows of a batch as objects.
 *
 * @param words the list of the sender, with the new words of this batch
 */
export function rowsOfBatch(
  { buffer, rows }: Pick<BatchMessage, 'buffer' | 'rows'>,
  words: readonly string[],
): readonly AttemptRow[] {
  const batch = new Batch(buffer)
  return Array.from(
    { length: rows },
    (_, row) =>
      Object.fromEntries(
        columnNames.map((name) => [name, cellOf(batch, name, row, words)]),
      ) as AttemptRow,
  )
}

function cellOf(batch: Batch, name: ColumnName, row: number, words: readonly string[]) {
  const cells = batch.columns[name]
  const cell = cells[row]!
  switch (attemptColumns[name].kind) {
    case 'micros':
      return Number.isNaN(cell) ? null : wholeMicros(cell)
    case 'index':
    case 'number':
      return Number.isNaN(cell) ? null : cell
    case 'count':
      return cell === nullCount ? null : cell
    case 'bits':
      return cell
    case 'word':
      return cell === nullWord ? null : words[cell]!
    case 'text': {
      const [start, length] = [cells[row * 2]!, cells[row * 2 + 1]!]
      return length < 0 ? null : batch.arena.toString('utf8', start, start + length)
    }
  }
}
