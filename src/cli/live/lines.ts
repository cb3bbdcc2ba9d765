import { type Row, renderTable } from '../../report/table.ts'
import { largest } from '../../user/extremes.ts'
import { type Html, html, trusted } from '../../user/html.ts'

/** A value at a place of the axis: seconds since the run began, or requests per second. */
export type Point = readonly [at: number, value: number]

export interface Line {
  readonly name: string
  /** CSS variable of a chart colour, such as `c1`. */
  readonly color: string
  /** Pattern of the line, so that colour alone does not tell lines apart. */
  readonly dash?: string
  readonly points: readonly Point[]
}

export interface Chart {
  readonly title: string
  readonly note?: string
  /** Unit of the axis below. */
  readonly along: 's' | '/s'
  /** End of the axis below, which begins at 0. Default: the last point. */
  readonly to?: number
  readonly lines: readonly Line[]
  /** A horizontal line, such as an objective; null for none. */
  readonly bound?: { readonly name: string; readonly value: number } | null
  /** Marks each point: for few of them. */
  readonly dots?: boolean
  /** The whole width of the page. */
  readonly wide?: boolean
}

/** Widths of the drawings: a whole column, half of one, a phone. */
const widths = { whole: 1060, half: 500, phone: 311 } as const
const [height, left, right, top, bottom] = [190, 44, 8, 8, 24]

/** Draws lines directly as SVG, because Vega is too slow for updates each second. Null without a line of two points. */
export function drawChart(chart: Chart): Html | null {
  const lines = chart.lines.filter(({ points }) => points.length > 1)
  if (lines.length === 0) return null
  const { title, note = '', wide = false } = chart
  const now = lines.map(({ name, points }) => `${name} ${shortOf(points.at(-1)![1])}`).join(', ')
  const drawn = (width: number) =>
    html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}, now: ${now}">${marks(width, { ...chart, lines })}</svg>`
  return html`<figure class="card"><figcaption><h2>${title}</h2></figcaption><div class="on-desk">${drawn(wide ? widths.whole : widths.half)}</div><div class="on-phone">${drawn(widths.phone)}</div>
<p class="note">${lines.map(
    ({ name, color, dash = '' }) =>
      html`<svg width="18" height="8" aria-hidden="true"><line x2="18" y1="4" y2="4" stroke="var(--${color})" stroke-width="3" stroke-dasharray="${dash}"/></svg> ${name} `,
  )}${note !== '' && html`<br>${note}`}</p>${asTable({ ...chart, lines })}</figure>`
}

/** The most rows of a chart's table: the last ones. */
const mostRows = 60

/** The points of a chart as a table, the last ones first. */
function asTable({ title, along, lines }: Chart): Html {
  const place = along === 's' ? 'at_s' : 'load_per_s'
  const empty = Object.fromEntries(lines.map(({ name }) => [name, null]))
  const rows = new Map<number, Row>()
  for (const { name, points } of lines) {
    for (const [at, value] of points) {
      rows.set(at, { [place]: at, ...empty, ...rows.get(at), [name]: value })
    }
  }
  const last = [...rows.values()]
    .toSorted((a, b) => Number(b[place]) - Number(a[place]))
    .slice(0, mostRows)
  return html`<details class="as-table"><summary>As a table</summary>${renderTable(last, { title: `${title}, as a table` })}</details>`
}

function marks(width: number, { along, lines, bound = null, dots = false, to: end = 0 }: Chart) {
  const all = lines.flatMap(({ points }) => points)
  const most = niceAbove(
    largest(
      all.map(([, value]) => value),
      bound?.value ?? 0,
    ),
  )
  const to = largest(
    all.map(([at]) => at),
    end,
  )
  const x = (at: number) => (left + (at / to) * (width - left - right)).toFixed(1)
  const y = (value: number) =>
    (height - bottom - (value / most) * (height - top - bottom)).toFixed(1)
  const label = (at: string | number, down: string | number, anchor: string, text: string) =>
    html`<text x="${at}" y="${down}" text-anchor="${anchor}" font-size="12" fill="var(--muted)">${text}</text>`
  const level = (value: number, stroke: string) =>
    html`<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="var(--${stroke})"/>`
  return html`${[0, most / 2, most].map(
    (value) =>
      html`${level(value, 'grid')}${label(left - 8, Number(y(value)) + 4, 'end', shortOf(value))}`,
  )}${bound !== null && html`${level(bound.value, 'bad')}${label(width - right, Number(y(bound.value)) + (bound.value > most * 0.85 ? 14 : -5), 'end', bound.name)}`}${label(left, height - 4, 'start', placeOf(0, along))}${label(width - right, height - 4, 'end', placeOf(to, along))}${lines.map(
    ({ color, dash = '', points }) =>
      html`<polyline fill="none" stroke="var(--${color})" stroke-width="2" stroke-dasharray="${dash}" points="${trusted(points.map(([at, value]) => `${x(at)},${y(value)}`).join(' '))}"/>${
        dots &&
        points.map(
          ([at, value]) =>
            html`<circle cx="${x(at)}" cy="${y(value)}" r="3.5" fill="var(--${color})"/>`,
        )
      }`,
  )}`
}

const placeOf = (at: number, along: Chart['along']) =>
  along === 's' ? `${shortOf(at)} s` : `${shortOf(at)}/s`

/** The smallest 1, 2 or 5 times a power of ten that is not below the value. */
function niceAbove(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].find((each) => each * power >= value)! * power
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })
const shortOf = (value: number) => compact.format(value)

/** Keeps at most as many points as a chart shows: when it is full, every second one is dropped. */
export class Points<Kept> {
  private readonly most: number
  private every = 1
  private seen = 0
  kept: Kept[] = []

  constructor(most = 600) {
    this.most = most
  }

  add(point: Kept): void {
    if (this.seen++ % this.every !== 0) return
    this.kept.push(point)
    if (this.kept.length < this.most) return
    this.kept = this.kept.filter((_, at) => at % 2 === 0)
    this.every *= 2
  }
}
