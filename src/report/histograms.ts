import { filledCells } from '../store/read/histogram-cells.ts'
import type { Session } from '../store/session/session.ts'
import { largest, smallest } from '../user/extremes.ts'
import { fillTable } from './temp-table.ts'

/** Cells of the heat map per factor of ten: a cell is 21 % wide. */
const cellsPerDecade = 12

interface StoredHistogram {
  readonly from_s: number
  readonly to_s: number
  readonly hdr: string
}

/** Number of samples in an interval of time and a range of latency. */
interface HeatCell {
  readonly from_s: number
  readonly to_s: number
  readonly from_ms: number
  readonly to_ms: number
  readonly n: number
}

/**
 * Decodes the stored HDR histograms of service time, which SQL cannot, into the table `shown_heat` (from_s, to_s,
 * from_ms, to_ms, n). Counts add up over steps, threads and intervals.
 */
export async function prepareHistograms(session: Session): Promise<void> {
  const stored = await session.rows<StoredHistogram>(`
    SELECT (offset_us + interval_us) / 1e6 AS from_s,
      (offset_us + interval_us + interval_length_us) / 1e6 AS to_s,
      to_base64(hdr) AS hdr
    FROM histograms JOIN shown_runs USING (run_id)
    WHERE metric = 'service'
    ORDER BY from_s`)
  await fillTable(
    session,
    'shown_heat',
    { from_s: 'DOUBLE', to_s: 'DOUBLE', from_ms: 'DOUBLE', to_ms: 'DOUBLE', n: 'BIGINT' },
    heatCells(stored),
  )
}

/** Most columns of the heat map. Beyond it, neighbours are merged. */
const mostColumns = 90

function heatCells(stored: readonly StoredHistogram[]): readonly HeatCell[] {
  const starts = [...new Set(stored.map((each) => each.from_s))]
  const merged = Math.ceil(starts.length / mostColumns)
  const columnOf = new Map(starts.map((start, at) => [start, Math.floor(at / merged)]))
  const columns = Map.groupBy(stored, (each) => columnOf.get(each.from_s)!)
  return [...columns.values()].flatMap((histograms) => {
    const from_s = smallest(histograms.map((each) => each.from_s))
    const to_s = largest(histograms.map((each) => each.to_s))
    return [...countsOf(histograms)].map(([row, n]) => ({
      ...{ from_s, to_s, n },
      from_ms: 10 ** (row / cellsPerDecade) / 1000,
      to_ms: 10 ** ((row + 1) / cellsPerDecade) / 1000,
    }))
  })
}

/** Samples in each row of the heat map. */
function countsOf(histograms: readonly StoredHistogram[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const { hdr } of histograms) {
    for (const { highest: highestUs, count } of filledCells(Buffer.from(hdr, 'base64'))) {
      const row = Math.floor(Math.log10(Math.max(1, highestUs)) * cellsPerDecade)
      counts.set(row, (counts.get(row) ?? 0) + count)
    }
  }
  return counts
}
