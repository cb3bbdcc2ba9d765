/**
 * Splits the batches of a query into groups. The first column numbers a row's group; the rows of one are together, and only one
 * is in memory at a time.
 */
export async function eachGroup(
  query: (take: (columns: readonly Float64Array[]) => Promise<void>) => Promise<void>,
  use: (group: number, columns: readonly Float64Array[]) => Promise<void> | void,
): Promise<void> {
  let group = Number.NaN
  let parts: (readonly Float64Array[])[] = []
  const end = async () => {
    if (parts.length === 0) return
    const whole = joined(parts)
    parts = []
    await use(group, whole)
  }
  await query(async ([groups, ...columns]) => {
    for (let from = 0; from < groups!.length; ) {
      if (groups![from] !== group) {
        await end()
        group = groups![from]!
      }
      const until = endOfEqual(groups!, from)
      parts.push(columns.map((column) => column.subarray(from, until)))
      from = until
    }
  })
  await end()
}

/** Where the values that equal the one at `from` end; equal values are together. */
function endOfEqual(values: Float64Array, from: number): number {
  let until = from + 1
  while (until < values.length && values[until] === values[from]) until++
  return until
}

function joined(parts: readonly (readonly Float64Array[])[]): readonly Float64Array[] {
  const size = parts.reduce((sum, [first]) => sum + first!.length, 0)
  return parts[0]!.map((_, column) => {
    const whole = new Float64Array(size)
    let at = 0
    for (const part of parts) {
      whole.set(part[column]!, at)
      at += part[column]!.length
    }
    return whole
  })
}
