import type { Session } from '../session/session.ts'

/** Values of requests in the order of their planned sends. */
export interface Ordered {
  readonly values: Float64Array
  /** 1 for a value that was cut off, so that the true one is at least so large; null if none was. */
  readonly isCut: Uint8Array | null
  /** Planned send of each, microseconds of the run's clock. */
  readonly atUs: Float64Array
}

/** Columns to read: SQL of a value, and of whether it was cut off; null for never. */
export interface Column {
  readonly value: string
  readonly cut: string | null
}

/**
 * Reads columns of one relation, each without its nulls.
 *
 * @param from a relation with `intended_us`
 * @param ties SQL of the columns that order values of the same planned send
 */
export async function readOrdered(
  session: Session,
  from: string,
  columns: readonly Column[],
  parameters: readonly (string | null)[] = [],
  ties = 'slot, retry',
): Promise<readonly Ordered[]> {
  const selected = columns.flatMap(({ value, cut }) => [
    `(${value})::DOUBLE`,
    ...(cut === null ? [] : [`(${cut})::INTEGER::DOUBLE`]),
  ])
  const read = await session.doubles(
    `SELECT intended_us::DOUBLE, ${selected.join(', ')} FROM ${from} ORDER BY intended_us, ${ties}`,
    [...parameters],
  )
  const [atUs = new Float64Array()] = read
  let next = 1
  return columns.map(({ cut }) => {
    const values = read[next++] ?? new Float64Array()
    const cuts = cut === null ? null : (read[next++] ?? new Float64Array())
    return withoutNulls(values, cuts, atUs)
  })
}

function withoutNulls(
  values: Float64Array,
  cuts: Float64Array | null,
  atUs: Float64Array,
): Ordered {
  const isKnown = (_: number, at: number) => !Number.isNaN(values[at]!)
  const isCut = cuts === null ? null : Uint8Array.from(cuts.filter(isKnown))
  return {
    values: values.filter((value) => !Number.isNaN(value)),
    isCut: isCut?.includes(1) ? isCut : null,
    atUs: atUs.filter(isKnown),
  }
}
