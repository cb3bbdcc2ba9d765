/** The middle value; of an even number, the upper of the two. NaN of none. */
export function median(values: Iterable<number>): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[sorted.length >> 1] ?? Number.NaN
}
