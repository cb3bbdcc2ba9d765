import { filledCells } from '../store/read/histogram-cells.ts'
import type { Session } from '../store/session/session.ts'
import { fillTable } from './temp-table.ts'

/** Cells of the heat map per factor of ten: a cell is 21 % wide. */
const cellsPerDecade = 12

interface StoredHistogram {
  readonly from_s: number
  readonly to_s: number
  readonly hdr: string
}

/** Number of samples in an interval of time and a range of latency. */
interface Cell {
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
    'shown_heat (from_s DOUBLE, to_s DOUBLE, from_ms DOUBLE, to_ms DOUBLE, n BIGINT)',
    heatCells(stored),
  )
}

/** Most columns of the heat map. Beyond it, neighbours are merged. */
const mostColumns = 90

function heatCells(stored: readonly StoredHistogram[]): readonly Cell[] {
  const starts = [...new Set(stored.map((each) => each.from_s))]
  const merged = Math.ceil(starts.length / mostColumns)
  const columnOf = new Map(starts.map((start, at) => [start, Math.floor(at / merged)]))
  const spans = new Map<number, { from: number; to: number }>()
  const counts = new Map<string, number>()
  for (const { from_s, to_s, hdr } of stored) {
    const column = columnOf.get(from_s)!
    const span = spans.get(column) ?? { from: from_s, to: to_s }
    spans.set(column, { from: Math.min(span.from, from_s), to: Math.max(span.to, to_s) })
    for (const { highest, count } of filledCells(Buffer.from(hdr, 'base64'))) {
      const cell = Math.floor(Math.log10(Math.max(1, highest)) * cellsPerDecade)
      const key = `${column} ${cell}`
      counts.set(key, (counts.get(key) ?? 0) + count)
    }
  }
  return [...counts].map(([key, n]) => {
    const [column, cell] = key.split(' ').map(Number) as [number, number]
    const { from, to } = spans.get(column)!
    return {
      from_s: from,
      to_s: to,
      from_ms: 10 ** (cell / cellsPerDecade) / 1000,
      to_ms: 10 ** ((cell + 1) / cellsPerDecade) / 1000,
      n,
    }
  })
}
