import { largest } from '../user/extremes.ts'
import { colourNames, dashLines } from './colours.ts'
import type { ChartRow, ChartSpec } from './spec.ts'

/**
 * Adds what every spec would repeat: readable numbers on axes, and a legend in columns that fit (Vega does not wrap
 * it).
 */
export function tidy(
  spec: ChartSpec['vegaLite'],
  rows: readonly ChartRow[],
  widthPx: number,
): ChartSpec['vegaLite'] {
  const tidied = structuredClone(spec) as View & { layer?: View[] }
  const views = [tidied, ...(tidied.layer ?? [])]
  const constants = constantsIn(views, rows)
  const colors = views.flatMap((view) => (view.encoding?.color ? [view.encoding.color] : []))
  for (const view of views) {
    for (const channel of [view.encoding?.x, view.encoding?.y]) labelPlainly(channel)
    const roomPx = Math.min(widthPx, widestLegendPx) - besideX(view.encoding?.y)
    const { color, shape } = view.encoding ?? {}
    if (typeof shape?.field === 'string' && shape.legend !== null) {
      foldLegend(shape, namesShown(shape, labelsOf(shape.field, [shape], rows), rows), roomPx)
    }
    if (typeof color?.field !== 'string' || color.legend === null) continue
    const labels = labelsOf(color.field, colors, rows)
    // Layers share a scale, so the colours that one of them names are those of all.
    if (
      !colors.some((each) => each.field === color.field && 'range' in ((each.scale ?? {}) as Json))
    ) {
      colourNames(color, labels)
      dashLines(view.encoding!, view.mark)
    }
    const shown = namesShown(color, labels, rows, constants)
    const { strokeDash } = view.encoding!
    if (shown.length < labels.length && strokeDash !== undefined) strokeDash.legend = color.legend
    foldLegend(color, shown, roomPx)
  }
  return tidied
}

type Json = Record<string, unknown>
type View = Json & { encoding?: Record<string, Json> }

/** 1.5k, 40k, 2M from a thousand up, plain numbers below. */
const plainNumbers =
  "abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, ',.4~r')"

/** Dates that are clear in every country. Hours appear only on short axes. */
const plainDates = {
  year: '%-d %b %Y',
  quarter: '%-d %b',
  month: '%-d %b',
  week: '%-d %b',
  date: '%-d %b',
  day: '%-d %b',
  hours: '%H:%M',
  minutes: '%H:%M',
  seconds: '%H:%M:%S',
  milliseconds: '%H:%M:%S.%L',
}

function labelPlainly(channel: Json | undefined): void {
  if (channel === undefined || channel.axis === null) return
  const axis = (channel.axis ?? {}) as Json
  if ('format' in axis || 'labelExpr' in axis) return
  if (channel.type === 'quantitative') channel.axis = { ...axis, labelExpr: plainNumbers }
  if (channel.type === 'temporal') channel.axis = { ...axis, format: plainDates }
}

const letterPx = 6.7
const symbolPx = 36
/** A drawing shrinks with a desktop window, but its legend is not folded again. */
const widestLegendPx = 600
const longestLabelPx = 180

/** Width of the y axis labels: names need more than numbers. */
const besideX = (y: Json | undefined) => (y?.type === 'nominal' ? 200 : 60)

/** Entries of a legend: the domain that any layer gives (layers share it), else the values. */
function labelsOf(
  field: string,
  colors: readonly Json[],
  rows: readonly ChartRow[],
): readonly unknown[] {
  const given = colors
    .filter((color) => color.field === field)
    .map((color) => (color.scale as Json | undefined)?.domain)
    .find(Array.isArray)
  return given ?? [...new Set(rows.map((row) => row[field]))]
}

/** Names of layers that are one line, such as an objective, if a row has its place. */
function constantsIn(views: readonly View[], rows: readonly ChartRow[]): readonly unknown[] {
  return views.flatMap(({ encoding: { color, x, y } = {} }) => {
    const field = y?.field ?? x?.field
    const isDrawn = typeof field === 'string' && rows.some((row) => row[field] != null)
    return color?.datum !== undefined && isDrawn ? [color.datum] : []
  })
}

/** A name without a row has no entry in the legend: it is not drawn. */
function namesShown(
  channel: Json,
  labels: readonly unknown[],
  rows: readonly ChartRow[],
  constants: readonly unknown[] = [],
): readonly unknown[] {
  const seen = new Set([...rows.map((row) => row[channel.field as string]), ...constants])
  const shown = labels.filter((label) => seen.has(label))
  if (shown.length === labels.length || shown.length === 0) return labels
  channel.legend = { ...(channel.legend as Json | undefined), values: shown }
  return shown
}

function foldLegend(color: Json, labels: readonly unknown[], roomPx: number): void {
  const legend = (color.legend ?? {}) as Json
  if ('columns' in legend) return
  const widths = labels.map(
    (label) => Math.min(String(label).length * letterPx, longestLabelPx) + symbolPx,
  )
  color.legend = { ...legend, columns: columnsWithin(widths, roomPx) }
}

/** The most columns whose widest labels fit the width. */
function columnsWithin(widths: readonly number[], roomPx: number): number {
  for (let columns = widths.length; columns > 1; columns--) {
    const needed = Array.from({ length: columns }, (_, column) =>
      largest(widths.filter((_, at) => at % columns === column)),
    )
    if (needed.reduce((sum, width) => sum + width, 0) <= roomPx) return columns
  }
  return 1
}
