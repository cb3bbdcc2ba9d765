import type { ChartRow, ChartSpec } from './spec.ts'

/**
 * What every spec would have to repeat: numbers on axes as people write them, and a legend in as
 * many columns as its labels leave room for (Vega does not wrap one by itself).
 */
export function tidy(
  spec: ChartSpec['vegaLite'],
  rows: readonly ChartRow[],
  widthPx: number,
): ChartSpec['vegaLite'] {
  const tidied = structuredClone(spec) as unknown as View & { layer?: View[] }
  for (const view of [tidied, ...(tidied.layer ?? [])]) {
    for (const channel of [view.encoding?.x, view.encoding?.y]) labelNumbers(channel)
    foldLegend(view.encoding?.color, rows, widthPx)
  }
  return tidied as unknown as ChartSpec['vegaLite']
}

type Json = Record<string, unknown>
type View = Json & { encoding?: Record<string, Json> }

/** 1.5k, 40k, 2M above a thousand, plain numbers below. */
const plainNumbers =
  "abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, ',.4~r')"

function labelNumbers(channel: Json | undefined): void {
  if (channel === undefined || channel.type !== 'quantitative' || channel.axis === null) return
  const axis = (channel.axis ?? {}) as Json
  if ('format' in axis || 'labelExpr' in axis) return
  channel.axis = { ...axis, labelExpr: plainNumbers }
}

const letterPx = 6.4
const symbolPx = 34
const longestLabelPx = 180

function foldLegend(color: Json | undefined, rows: readonly ChartRow[], widthPx: number): void {
  if (typeof color?.field !== 'string' || color.legend === null) return
  const legend = (color.legend ?? {}) as Json
  if ('columns' in legend) return
  const field = color.field
  const domain = (color.scale as Json | undefined)?.domain
  const labels = Array.isArray(domain) ? domain : [...new Set(rows.map((row) => row[field]))]
  const longest = Math.max(1, ...labels.map((label) => String(label).length))
  const room = Math.min(longest * letterPx, longestLabelPx) + symbolPx
  const columns = Math.max(1, Math.floor((widthPx - 60) / room))
  color.legend = { ...legend, columns: Math.min(columns, labels.length) }
}
