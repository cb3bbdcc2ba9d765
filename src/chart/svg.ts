import { parse, resetSVGDefIds, textMetrics, View } from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { wrapped } from '../user/wrapped.ts'
import { compactSvg } from './compact.ts'
import { type Compiled, compileChart, type Size } from './compile.ts'
import type { ChartRow, ChartSpec } from './spec.ts'
import { still } from './still.ts'
import { drawingFont, toCssVariables } from './theme.ts'
import { warningsInto } from './warnings.ts'

interface Text {
  readonly fontSize?: number
  readonly limit?: number
}
declare module 'vega' {
  /** Vega exports it, but its types omit it. */
  const textMetrics: { width: (item: Text, text: unknown) => number }
}

/**
 * Width of a letter, in em. Without a canvas Vega assumes 0.8 em and cuts labels that would fit. Text in the widest
 * font that a page may get needs 0.62 em. Widths are capped at the limit to which Vega cuts labels.
 */
const letterEm = 0.62
textMetrics.width = ({ fontSize = 11, limit = 0 }, text) => {
  const width = letterEm * fontSize * String(text ?? '').trim().length
  return limit > 0 ? Math.min(width, limit) : width
}

export interface Drawing {
  /** One `<svg>` element, sized by its viewBox. */
  readonly svg: string
  /** A chart should not warn; the caller decides what to do if it does. */
  readonly warnings: readonly string[]
}

export interface DrawOptions extends Size {
  /** Prefix of every id inside. It must be unique in the page. */
  readonly id: string
}

/** Compiles a chart and draws it for a page, as `drawSvg` does. */
export function renderSvg(
  chart: ChartSpec,
  rows: readonly ChartRow[],
  options: DrawOptions,
): Promise<Drawing> {
  return drawSvg(chart, compileChart(chart, rows, options), options)
}

/**
 * Draws a compiled chart as SVG for a page: with the colour variables of `chartCss`, the page's font, and title and description
 * for screen readers. Nothing is measured on a canvas, so the same rows give the same bytes on every machine.
 */
export async function drawSvg(
  chart: ChartSpec,
  compiled: Compiled | null,
  options: DrawOptions,
): Promise<Drawing> {
  const { body, warnings } = await draw(chart, compiled, options)
  const id = escapeXml(options.id)
  const svg = toCssVariables(compactSvg(body))
    .replaceAll(` font-family="${drawingFont}"`, '')
    .replace(
      /^<svg[^>]*viewBox="([^"]*)"[^>]*>/,
      (_, viewBox: string) =>
        `<svg class="chart" role="img" aria-labelledby="${id}-t ${id}-d" viewBox="${viewBox}" xmlns="http://www.w3.org/2000/svg"><title id="${id}-t">${escapeXml(chart.title)}</title><desc id="${id}-d">${escapeXml(chart.description)}</desc>`,
    )
  return { svg, warnings }
}

/** Draws a standalone picture: plain colours, with the title above. */
export async function renderPicture(
  chart: ChartSpec,
  rows: readonly ChartRow[],
  size: Size,
): Promise<Drawing> {
  const compiled = compileChart(chart, rows, size)
  if (compiled === null) return { svg: emptyPicture(chart, size), warnings: [] }
  const titled: ChartSpec = {
    ...chart,
    vegaLite: {
      ...chart.vegaLite,
      title: { text: chart.title, anchor: 'start', fontSize: 14, offset: 12, color: '#1c2430' },
      background: '#ffffff',
    } as ChartSpec['vegaLite'],
  }
  const { body, warnings } = await draw(titled, compileChart(titled, rows, size), {
    ...size,
    id: 'chart',
  })
  return { svg: body, warnings }
}

async function draw(chart: ChartSpec, compiled: Compiled | null, options: DrawOptions) {
  if (compiled === null) return { body: emptyState(chart, options), warnings: [] }
  const warnings = [...compiled.warnings]
  const view = new View(parse(still(compiled.spec), undefined, { ast: true }), {
    expr: expressionInterpreter,
    renderer: 'none',
    logger: warningsInto(warnings),
  })
  // Clip paths are numbered by a counter of the whole process, but ids must be unique in the page.
  resetSVGDefIds()
  const drawn = await view.toSVG()
  view.finalize()
  const id = escapeXml(options.id)
  return {
    body: drawn
      .replace(/\bid="((?:clip|gradient_)\w+)"/g, (_, name: string) => `id="${id}-${name}"`)
      .replace(/url\(#((?:clip|gradient_)\w+)\)/g, (_, name: string) => `url(#${id}-${name})`),
    warnings,
  }
}

const titlePx = 40

/** The words of an empty chart on white, under its title. */
function emptyPicture(chart: ChartSpec, size: Size): string {
  const { widthPx } = size
  const body = emptyState(chart, size)
  const heightPx = titlePx + Number(/ height="([\d.]+)"/.exec(body)![1])
  const title = `<text x="8" y="24" font-size="14" font-weight="bold" font-family="${drawingFont}" fill="#1c2430">${escapeXml(chart.title)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}" viewBox="0 0 ${widthPx} ${heightPx}"><rect width="100%" height="100%" fill="#ffffff"/>${title}${body.replace('<svg ', `<svg y="${titlePx}" `)}</svg>`
}

/** Upper bound of the average width of a letter in an empty chart, pixels. */
const letterPx = 7
const linePx = 18

function emptyState(chart: ChartSpec, { widthPx, heightPx }: Size): string {
  const height = Math.min(heightPx ?? chart.heightPx, 96)
  const lines = wrapped(chart.empty, '', Math.floor((widthPx - 16) / letterPx))
  const firstPx = height / 2 - ((lines.length - 1) * linePx) / 2
  const words = lines
    .map(
      (line, at) =>
        `<tspan x="${widthPx / 2}" y="${firstPx + at * linePx}">${escapeXml(line)}</tspan>`,
    )
    .join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${height}" viewBox="0 0 ${widthPx} ${height}"><text text-anchor="middle" font-size="13" font-family="${drawingFont}" fill="#5a6572">${words}</text></svg>`
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
