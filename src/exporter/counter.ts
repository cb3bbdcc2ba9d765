/** A value of a series, and when it was scraped. */
export interface Point {
  /** Microseconds of the run. */
  readonly atUs: number
  readonly value: number
}

/** By how much a counter rose, and what was met on the way. */
export interface Rise {
  /** Null if replicas answered in turns, because then no difference is one of a counter. */
  readonly by: number | null
  /** When the counter began again at 0: the service restarted. */
  readonly restartsUs: readonly number[]
}

/** Within so many scrapes after a fall, a value above the one before it is that of another replica. */
const returnScrapes = 3

/**
 * The rise of a counter over scrapes in order. A lower value is a restart, whose whole value counts; if the counter comes
 * back above its earlier value at once, several replicas answer in turns.
 */
export function riseOf(points: readonly Point[]): Rise {
  let by = 0
  const restartsUs: number[] = []
  for (let at = 1; at < points.length; at++) {
    const [before, now] = [points[at - 1]!, points[at]!]
    if (now.value >= before.value) {
      by += now.value - before.value
      continue
    }
    const next = points.slice(at + 1, at + 1 + returnScrapes)
    if (next.some(({ value }) => value >= before.value)) return { by: null, restartsUs: [] }
    by += now.value
    restartsUs.push(now.atUs)
  }
  return { by, restartsUs }
}

export interface HistogramBucket {
  readonly upTo: number
  readonly count: number
}

/** Bounds of a quantile, which is no point: the buckets say no more. */
export interface QuantileBounds {
  readonly from: number
  /** Null in the last bucket: at least `from`. */
  readonly to: number | null
}

/**
 * @param buckets cumulative, of the values between two scrapes
 * @param quantile 0 to 1
 * @returns null without a value
 */
export function quantileBounds(
  buckets: readonly HistogramBucket[],
  quantile: number,
): QuantileBounds | null {
  const sorted = buckets.toSorted((a, b) => a.upTo - b.upTo)
  const total = sorted.at(-1)?.count ?? 0
  if (total <= 0) return null
  const at = sorted.findIndex(({ count }) => count >= quantile * total && count > 0)
  return { from: sorted[at - 1]?.upTo ?? 0, to: finite(sorted[at]!.upTo) }
}

const finite = (value: number) => (Number.isFinite(value) ? value : null)
