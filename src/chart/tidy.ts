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
    for (const channel of [view.encoding?.x, view.encoding?.y]) labelPlainly(channel)
    foldLegend(view.encoding?.color, rows, widthPx - besideX(view.encoding?.y))
  }
  return tidied as unknown as ChartSpec['vegaLite']
}

type Json = Record<string, unknown>
type View = Json & { encoding?: Record<string, Json> }

/** 1.5k, 40k, 2M above a thousand, plain numbers below. */
const plainNumbers =
  "abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, ',.4~r')"

/** Dates as a reader of any country reads them; hours only where an axis is that short. */
const plainDates = {
  year: '%d %b %Y',
  quarter: '%d %b',
  month: '%d %b',
  week: '%d %b',
  date: '%d %b',
  day: '%d %b',
  hours: '%H:%M',
  minutes: '%H:%M',
}

function labelPlainly(channel: Json | undefined): void {
  if (channel === undefined || channel.axis === null) return
  const axis = (channel.axis ?? {}) as Json
  if ('format' in axis || 'labelExpr' in axis) return
  if (channel.type === 'quantitative') channel.axis = { ...axis, labelExpr: plainNumbers }
  if (channel.type === 'temporal') channel.axis = { ...axis, format: plainDates }
}

const letterPx = 6.2
const symbolPx = 34
const longestLabelPx = 180

/** What the labels of the y axis take: names are wider than numbers. */
const besideX = (y: Json | undefined) => (y?.type === 'nominal' ? 200 : 60)

function foldLegend(color: Json | undefined, rows: readonly ChartRow[], roomPx: number): void {
  if (typeof color?.field !== 'string' || color.legend === null) return
  const legend = (color.legend ?? {}) as Json
  if ('columns' in legend) return
  const field = color.field
  const domain = (color.scale as Json | undefined)?.domain
  const labels = Array.isArray(domain) ? domain : [...new Set(rows.map((row) => row[field]))]
  const widths = labels.map(
    (label) => Math.min(String(label).length * letterPx, longestLabelPx) + symbolPx,
  )
  color.legend = { ...legend, columns: columnsWithin(widths, roomPx) }
}

/** The most columns whose widest labels stand beside each other in the room that there is. */
function columnsWithin(widths: readonly number[], roomPx: number): number {
  for (let columns = widths.length; columns > 1; columns--) {
    const needed = Array.from({ length: columns }, (_, column) =>
      Math.max(...widths.filter((_, at) => at % columns === column)),
    )
    if (needed.reduce((sum, width) => sum + width, 0) <= roomPx) return columns
  }
  return 1
}
