import { ColumnFile, freeColumns, type KeptColumn } from '../../store/read/column-file.ts'

/** Rows that are sorted at once: of twenty columns, they take forty megabytes. */
const usualAtOnce = 262_144

export type RowOrder = (columns: readonly Float64Array[]) => (a: number, b: number) => number

/**
 * Splits the batches of a query into ordered groups through a file: a database that sorts so many needs more memory and time.
 *
 * @param query runs the query with this taker of batches; its first column numbers the group of a row
 * @param storePath the file is beside this store, and is gone at the end
 * @param use is given each group by its number, and its other columns, which it must not keep
 */
export async function eachGroupOnDisk(
  query: (take: (columns: readonly Float64Array<ArrayBuffer>[]) => void) => Promise<void>,
  storePath: string,
  orderOf: RowOrder,
  use: (group: number, columns: readonly Float64Array[]) => Promise<void> | void,
  rowsAtOnce = usualAtOnce,
): Promise<void> {
  const file = new ColumnFile(storePath)
  try {
    const partition = new Partition(file, rowsAtOnce)
    await query((columns) => {
      partition.add(columns)
      freeColumns(columns)
    })
    for (const [group, columns] of partition.groups(orderOf)) await use(group, columns)
  } finally {
    file.close()
  }
}

interface Sorted {
  readonly columns: readonly KeptColumn[]
  /** Numbers of the groups, ascending, and where each begins; the last one is followed by the number of rows. */
  readonly groups: Float64Array
  readonly starts: Uint32Array
  /** The next group to be read. */
  next: number
}

class Partition {
  private readonly file: ColumnFile
  private readonly rowsAtOnce: number
  private columns: readonly Float64Array[] = []
  private rows = 0
  private readonly sorted: Sorted[] = []

  constructor(file: ColumnFile, rowsAtOnce: number) {
    this.file = file
    this.rowsAtOnce = rowsAtOnce
  }

  add(columns: readonly Float64Array[]): void {
    if (this.columns.length === 0)
      this.columns = columns.map(() => new Float64Array(this.rowsAtOnce))
    const size = columns[0]!.length
    for (let from = 0; from < size; ) {
      const until = Math.min(size, from + this.rowsAtOnce - this.rows)
      for (const [at, column] of columns.entries())
        this.columns[at]!.set(column.subarray(from, until), this.rows)
      this.rows += until - from
      from = until
      if (this.rows === this.rowsAtOnce) this.sort()
    }
  }

  /** Each group once, in order of its number. The columns are overwritten by those of the next one. */
  *groups(
    orderOf: RowOrder,
  ): Generator<readonly [group: number, columns: readonly Float64Array[]], void, undefined> {
    if (this.rows > 0) this.sort()
    this.columns = []
    const [read, ordered] = [new Scratch(), new Scratch()]
    try {
      for (;;) {
        const group = this.sorted.reduce(
          (least, { groups, next }) => Math.min(least, groups[next] ?? Infinity),
          Infinity,
        )
        if (group === Infinity) return
        const columns = this.readGroup(group, read)
        yield [group, inOrder(columns, orderOf(columns), ordered)]
      }
    } finally {
      read.free()
      ordered.free()
    }
  }

  private readGroup(group: number, scratch: Scratch): readonly Float64Array[] {
    const parts = this.sorted.filter(({ groups, next }) => groups[next] === group)
    const size = parts.reduce((sum, { starts, next }) => sum + starts[next + 1]! - starts[next]!, 0)
    const columns = scratch.columns(parts[0]!.columns.length, size)
    let at = 0
    for (const part of parts) {
      const [from, until] = [part.starts[part.next]!, part.starts[part.next + 1]!]
      for (const [nth, column] of part.columns.entries())
        column.read(from, columns[nth]!.subarray(at, at + until - from))
      at += until - from
      part.next++
    }
    return columns
  }

  /** Moves the rows in memory to the file, those of each group together. */
  private sort(): void {
    const [numbers, ...columns] = this.columns.map((column) => column.subarray(0, this.rows))
    const order = new Uint32Array(this.rows).map((_, row) => row)
    order.sort((a, b) => numbers![a]! - numbers![b]! || a - b)
    const [groups, starts]: [number[], number[]] = [[], []]
    for (const [at, row] of order.entries()) {
      if (numbers![row] === groups.at(-1)) continue
      groups.push(numbers![row]!)
      starts.push(at)
    }
    const moved = new Float64Array(this.rows)
    this.sorted.push({
      columns: columns.map((column) => {
        for (let at = 0; at < moved.length; at++) moved[at] = column[order[at]!]!
        return this.file.keep(moved)
      }),
      groups: Float64Array.from(groups),
      starts: Uint32Array.from([...starts, this.rows]),
      next: 0,
    })
    this.rows = 0
  }
}

/** Columns that are used again, so that a large group does not leave memory behind. */
class Scratch {
  private made: readonly Float64Array<ArrayBuffer>[] = []

  columns(count: number, size: number): readonly Float64Array[] {
    if (this.made.length < count || this.made[0]!.length < size) {
      const spare = Math.ceil(size * 1.25)
      this.free()
      this.made = Array.from({ length: count }, () => new Float64Array(spare))
    }
    return this.made.map((column) => column.subarray(0, size))
  }

  free(): void {
    freeColumns(this.made)
    this.made = []
  }
}

/** The same columns if their rows are in order, else others. */
function inOrder(
  columns: readonly Float64Array[],
  compare: (a: number, b: number) => number,
  scratch: Scratch,
): readonly Float64Array[] {
  const size = columns[0]!.length
  let sorted = 1
  while (sorted < size && compare(sorted - 1, sorted) <= 0) sorted++
  if (sorted >= size) return columns
  const order = new Uint32Array(size).map((_, row) => row).sort(compare)
  const own = scratch.columns(columns.length, size)
  for (const [nth, column] of columns.entries()) {
    for (let at = 0; at < size; at++) own[nth]![at] = column[order[at]!]!
  }
  return own
}
