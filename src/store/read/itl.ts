import { percentileOf } from '../../measure/percentile.ts'
import type { Session } from '../session/session.ts'
import { type CellCount, filledCells } from './histogram-cells.ts'

/** Times between events with text (ITL), in microseconds. */
export interface ItlFigures {
  /** True if each value is known. Otherwise values come from histograms and are within 0.1 %. */
  readonly exact: boolean
  readonly n: number
  readonly mean: number
  readonly min: number
  readonly max: number
  /** Between which the smallest and the largest value lie: their cells, unless each value is known. */
  readonly minWithin: readonly [low: number, high: number]
  readonly maxWithin: readonly [low: number, high: number]
  /** The quantile: the smallest value that at least this share of all does not exceed. */
  atShare(share: number): number
  /** The share of values that are at most `us`. */
  within(us: number): number
}

/**
 * ITL of each step, and of all steps under null. Our runs store histograms, which merge exactly over threads,
 * intervals and runs. If all runs are imported, each value is known.
 *
 * @param where an SQL condition on `histograms`
 */
export async function readItl(
  session: Session,
  where: string,
  parameters: readonly string[] = [],
): Promise<ReadonlyMap<string | null, ItlFigures>> {
  const rows = await session.rows<{ step: string; hdr: string }>(
    `SELECT step, to_base64(hdr) AS hdr FROM histograms WHERE metric = 'itl' AND samples > 0 AND ${where}`,
    [...parameters],
  )
  if (rows.length === 0) return new Map()
  const merged = new Map<string | null, Map<number, CellCount>>()
  for (const { step, hdr } of rows) {
    const cells = [...filledCells(Buffer.from(hdr, 'base64'))]
    for (const key of [step, null]) merged.set(key, withCells(merged.get(key) ?? new Map(), cells))
  }
  const found = new Map<string | null, ItlFigures>()
  for (const [step, cells] of merged) {
    const [values] = await session.doubles(
      `SELECT gap_us FROM imported_gaps WHERE (${where}) ${step === null ? '' : `AND step = $${parameters.length + 1}`}
       ORDER BY gap_us`,
      [...parameters, ...(step === null ? [] : [step])],
    )
    const counted = countedItl([...cells.values()].sort((a, b) => a.highest - b.highest))
    found.set(step, values?.length === counted.n ? exactItl(values) : counted)
  }
  return found
}

function exactItl(sorted: Float64Array): ItlFigures {
  const [min, max] = [sorted[0]!, sorted.at(-1)!]
  return {
    exact: true,
    n: sorted.length,
    mean: sorted.reduce((sum, us) => sum + us, 0) / sorted.length,
    ...{ min, max, minWithin: [min, min], maxWithin: [max, max] },
    atShare: (share) => percentileOf(sorted, share)!,
    within: (us) => sorted.filter((value) => value <= us).length / sorted.length,
  }
}

/** Adds cells to others. Histograms of a store have one layout, so the highest value names a cell. */
function withCells(
  sum: Map<number, CellCount>,
  cells: readonly CellCount[],
): Map<number, CellCount> {
  for (const cell of cells) {
    sum.set(cell.highest, { ...cell, count: cell.count + (sum.get(cell.highest)?.count ?? 0) })
  }
  return sum
}

/**
 * The figures as HdrHistogram gives them: a quantile is the highest value of its cell, and a mean takes the middle.
 *
 * @param cells in ascending order, at least one
 */
function countedItl(cells: readonly CellCount[]): ItlFigures {
  const n = cells.reduce((sum, { count }) => sum + count, 0)
  const [least, largest] = [cells[0]!, cells.at(-1)!]
  const middle = ({ lowest, highest }: CellCount) => Math.ceil((lowest + highest) / 2)
  const highestAt = (rank: number): number => {
    let [at, samples] = [0, cells[0]!.count]
    while (samples < rank) samples += cells[++at]!.count
    return cells[at]!.highest
  }
  return {
    exact: false,
    n,
    mean: cells.reduce((sum, cell) => sum + middle(cell) * cell.count, 0) / n,
    // Events of one packet arrive together: their ITL is 0.
    min: least.lowest,
    max: largest.highest,
    minWithin: [least.lowest, least.highest],
    maxWithin: [largest.lowest, largest.highest],
    // A rank that was divided by n may come back one rounding above itself.
    atShare: (share) => highestAt(Math.ceil(share * n * (1 - Number.EPSILON))),
    within: (us) =>
      cells.reduce((sum, { lowest, count }) => (lowest <= us ? sum + count : sum), 0) / n,
  }
}
