import { type Compiled, compileChart } from '../chart/compile.ts'
import { activeChart, type InteractiveChart, interactiveChart } from '../chart/interactive.ts'
import type { ChartSpec } from '../chart/spec.ts'
import { type Drawing, drawSvg } from '../chart/svg.ts'
import { type Html, html, trusted } from '../user/html.ts'
import type { Part } from './part.ts'
import { type Row, renderTable } from './table.ts'

/** Widths of drawings, pixels: the full column, half of it, and a phone. */
const widths = { whole: 860, half: 500, phone: 311 } as const

/** A rendered part. */
export interface Figure {
  readonly section: string | null
  readonly title: string
  readonly body: Html
  readonly chart: { readonly id: string; readonly live: InteractiveChart } | null
  readonly warnings: readonly string[]
  /** Renders the figure across the page; null if it is already wide. */
  readonly wider: (() => Promise<Figure>) | null
}

/** Renders a part with its rows; null for an optional part without rows. */
export async function renderFigure(part: Part, rows: readonly Row[]): Promise<Figure | null> {
  if (rows.length === 0 && part.front.optional === true) return null
  if (part.chart === null) return tableFigure(part, rows)
  const figure = await chartFigure(part, part.chart, rows)
  return figure.chart === null && part.front.optional === true ? null : figure
}

/** A name as an id. The name may come from a foreign store. */
const anchorOf = (name: string) => name.replace(/[^\w-]+/g, '-').slice(0, 80)

const asWide = (part: Part): Part => ({ ...part, front: { ...part.front, wide: true } })

function tableFigure(part: Part, rows: readonly Row[]): Figure {
  const { front } = part
  const isHalf = front.wide === false
  const table =
    rows.length === 0
      ? html`<p class="empty">${front.empty ?? 'Nothing was observed.'}</p>`
      : renderTable(rows, front)
  const body = html`${table}${front.note !== undefined && html`<p class="note">${front.note}</p>`}`
  return {
    section: front.section ?? null,
    title: front.title ?? '',
    chart: null,
    warnings: [],
    wider: isHalf ? async () => tableFigure(asWide(part), rows) : null,
    body: html`<section class="card ${isHalf ? 'half' : 'whole'}" id="${anchorOf(part.name)}">
${
  front.folded === true
    ? html`<details><summary><h3>${front.title}</h3></summary>${body}</details>`
    : html`<h3>${front.title}</h3>\n${body}`
}</section>`,
  }
}

/** The drawing for a phone, and its spec, which a figure has at any width. */
type OnPhone = readonly [Compiled | null, Drawing]

async function chartFigure(
  part: Part,
  chart: ChartSpec,
  rows: readonly Row[],
  known?: OnPhone,
): Promise<Figure> {
  const { front } = part
  const size = front.wide === true ? 'whole' : 'half'
  const id = `chart-${anchorOf(part.name)}`
  const active = activeChart(chart)
  const onDesk = { id, widthPx: widths[size] }
  const onPhone = { id: `${id}-p`, widthPx: widths.phone }
  const deskSpec = compileChart(active, rows, onDesk)
  const desk = await drawSvg(chart, deskSpec, onDesk)
  const phoneSpec = known === undefined ? compileChart(active, rows, onPhone) : known[0]
  const phone = known?.[1] ?? (await drawSvg(chart, phoneSpec, onPhone))
  const live = deskSpec && phoneSpec ? interactiveChart(active, deskSpec, phoneSpec) : null
  return {
    section: front.section ?? null,
    title: chart.title,
    chart: live === null ? null : { id, live },
    warnings: [...desk.warnings, ...phone.warnings],
    wider:
      size === 'half' ? () => chartFigure(asWide(part), chart, rows, [phoneSpec, phone]) : null,
    body: html`<figure class="card ${size}" id="${anchorOf(part.name)}"${live !== null && html` data-chart="${id}"`}>
<figcaption><h3>${chart.title}</h3></figcaption>
<div class="chart-drawings"><div class="on-desk">${trusted(desk.svg)}</div><div class="on-phone">${trusted(phone.svg)}</div></div>
${front.note !== undefined && html`<p class="note">${front.note}</p>`}</figure>`,
  }
}

/** Widens the last half-width figure of a section if it would have no neighbour. */
export async function withoutGaps(figures: readonly Figure[]): Promise<readonly Figure[]> {
  const filled = [...figures]
  for (const section of new Set(figures.map((figure) => figure.section))) {
    const narrow = figures.filter((figure) => figure.section === section && figure.wider !== null)
    const last = narrow.at(-1)
    if (narrow.length % 2 === 1) filled[figures.indexOf(last!)] = await last!.wider!()
  }
  return filled
}
