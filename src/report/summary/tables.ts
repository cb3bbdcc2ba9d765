import { flatRows } from './figures.ts'
import { csvCell, jsonText } from './printable.ts'
import type { RunSummary } from './shape.ts'

export function csvSummary(summary: RunSummary): string {
  const rows = flatRows(summary)
  const names = Object.keys(rows[0]!)
  return `${[names, ...rows.map((row) => Object.values(row).map((cell) => csvCell(cell)))]
    .map((cells) => cells.join(','))
    .join('\r\n')}\r\n`
}

export const jsonSummary = (summary: RunSummary): string => `${jsonText(summary)}\n`
