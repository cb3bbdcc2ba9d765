import { Resvg } from '@resvg/resvg-js'
import type { Size } from './compile.ts'
import type { ChartRow, ChartSpec } from './spec.ts'
import { renderPicture } from './svg.ts'
import { drawingFont } from './theme.ts'

/** The first installed font is used. Text widths are estimated for fonts of this kind. */
const pictureFonts = 'Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans'

/** Renders a chart as a PNG at twice its size, with its title, on white. */
export async function renderPng(
  chart: ChartSpec,
  rows: readonly ChartRow[],
  size: Size,
): Promise<{ readonly png: Uint8Array; readonly warnings: readonly string[] }> {
  const { svg, warnings } = await renderPicture(chart, rows, size)
  const picture = new Resvg(
    svg.replaceAll(`font-family="${drawingFont}"`, `font-family="${pictureFonts}"`),
    {
      fitTo: { mode: 'zoom', value: 2 },
      background: '#ffffff',
      font: { loadSystemFonts: true, defaultFontFamily: 'DejaVu Sans' },
    },
  )
  return { png: picture.render().asPng(), warnings }
}
