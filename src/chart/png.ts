import { Resvg } from '@resvg/resvg-js'
import type { Size } from './compile.ts'
import type { ChartRow, ChartSpec } from './spec.ts'
import { renderPicture } from './svg.ts'

/** A chart as a PNG picture at twice its size, with its title, on white. */
export async function renderPng(
  chart: ChartSpec,
  rows: readonly ChartRow[],
  size: Size,
): Promise<{ readonly png: Uint8Array; readonly warnings: readonly string[] }> {
  const { svg, warnings } = await renderPicture(chart, rows, size)
  const picture = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: 2 },
    background: '#ffffff',
    font: { loadSystemFonts: true, sansSerifFamily: 'DejaVu Sans' },
  })
  return { png: picture.render().asPng(), warnings }
}
