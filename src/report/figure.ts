import { compileChart } from '../chart/compile.ts'
import { activeChart, type InteractiveChart, interactiveChart } from '../chart/interactive.ts'
import type { ChartSpec } from '../chart/spec.ts'
import { drawSvg } from '../chart/svg.ts'
import { type Html, html, trusted } from '../user/html.ts'
import type { Work } from '../user/work.ts'
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
}

/** A part with its rows, before its width on the page is known. */
interface Sketch {
  readonly section: string | null
  /** Whether it takes half of the page's width if it has a neighbour. */
  readonly isHalf: boolean
  draw(size: 'half' | 'whole'): Promise<Figure>
}

/** Renders a part with its rows; null for an optional part without rows. */
export async function renderFigure(part: Part, rows: readonly Row[]): Promise<Figure | null> {
  const sketch = sketchOf(part, rows)
  return sketch === null ? null : sketch.draw(sketch.isHalf ? 'half' : 'whole')
}

/** A part that is drawn later; null for an optional part without rows. */
export function sketchOf(part: Part, rows: readonly Row[]): Sketch | null {
  const isOptional = part.front.optional === true
  if (rows.length === 0 && isOptional) return null
  if (part.chart === null) return sketchOfTable(part, rows)
  return sketchOfChart(part, part.chart, rows, isOptional)
}

/** A name as an id. The name may come from a foreign store. */
const anchorOf = (name: string) => name.replace(/[^\w-]+/g, '-').slice(0, 80)

function sketchOfTable({ name, front }: Part, rows: readonly Row[]): Sketch {
  const section = front.section ?? null
  return {
    section,
    isHalf: front.wide === false,
    async draw(size) {
      const table =
        rows.length === 0
          ? html`<p class="empty">${front.empty ?? 'Nothing was observed.'}</p>`
          : renderTable(rows, front)
      const body = html`${table}${front.note !== undefined && html`<p class="note">${front.note}</p>`}`
      return {
        section,
        title: front.title ?? '',
        chart: null,
        warnings: [],
        body: html`<section class="card ${size}" id="${anchorOf(name)}">
${
  front.folded === true
    ? html`<details><summary><h3>${front.title}</h3></summary>${body}</details>`
    : html`<h3>${front.title}</h3>\n${body}`
}</section>`,
      }
    },
  }
}

function sketchOfChart(
  { name, front }: Part,
  chart: ChartSpec,
  rows: readonly Row[],
  isOptional: boolean,
): Sketch | null {
  const section = front.section ?? null
  const id = `chart-${anchorOf(name)}`
  const active = activeChart(chart)
  const onPhone = { id: `${id}-p`, widthPx: widths.phone }
  const phoneSpec = compileChart(active, rows, onPhone)
  if (phoneSpec === null && isOptional) return null
  return {
    section,
    isHalf: front.wide !== true,
    async draw(size) {
      const onDesk = { id, widthPx: widths[size] }
      const deskSpec = compileChart(active, rows, onDesk)
      const desk = await drawSvg(chart, deskSpec, onDesk)
      const phone = await drawSvg(chart, phoneSpec, onPhone)
      const live = deskSpec && phoneSpec ? interactiveChart(active, deskSpec, phoneSpec) : null
      return {
        section,
        title: chart.title,
        chart: live === null ? null : { id, live },
        warnings: [...desk.warnings, ...phone.warnings],
        body: html`<figure class="card ${size}" id="${anchorOf(name)}"${live !== null && html` data-chart="${id}"`}>
<figcaption><h3>${chart.title}</h3></figcaption>
<div class="chart-drawings"><div class="on-desk">${trusted(desk.svg)}</div><div class="on-phone">${trusted(phone.svg)}</div></div>
${front.note !== undefined && html`<p class="note">${front.note}</p>`}</figure>`,
      }
    },
  }
}

/** Draws a page's figures. The last of half width in a section is drawn wide if it would have no neighbour. */
export async function drawFigures(
  sketches: readonly Sketch[],
  { signal }: Pick<Work, 'signal'> = {},
): Promise<readonly Figure[]> {
  const halves = sketches.filter(({ isHalf }) => isHalf)
  const bySection = [...Map.groupBy(halves, ({ section }) => section).values()]
  const alone = new Set(bySection.filter((own) => own.length % 2 === 1).map((own) => own.at(-1)!))
  const figures: Figure[] = []
  for (const sketch of sketches) {
    signal?.throwIfAborted()
    figures.push(await sketch.draw(sketch.isHalf && !alone.has(sketch) ? 'half' : 'whole'))
  }
  return figures
}
