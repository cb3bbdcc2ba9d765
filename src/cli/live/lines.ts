import { type Html, html } from '../../user/html.ts'

/** One line of a chart: a value at each time, null for none. */
export interface Line {
  readonly name: string
  /** CSS variable of a chart colour, such as `c1`. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

/** Widths of the charts of a page: a whole column, a phone. */
const widths = { desk: 860, phone: 311 } as const
const [height, left, right, top, bottom] = [170, 44, 8, 8, 24]

/** Draws lines over time directly as SVG, because Vega is too slow for updates each second. */
export function drawLines(title: string, atS: readonly number[], lines: readonly Line[]): Html {
  const now = lines.map(({ name, values }) => `${name} ${shortOf(values.at(-1))}`).join(', ')
  const drawn = (width: number) =>
    html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}, now: ${now}">${marks(width, atS, lines)}</svg>`
  return html`<div class="on-desk">${drawn(widths.desk)}</div><div class="on-phone">${drawn(widths.phone)}</div>
<p class="note">${lines.map(
    ({ name, color }) =>
      html`<svg width="18" height="8" aria-hidden="true"><line x2="18" y1="4" y2="4" stroke="var(--${color})" stroke-width="3"/></svg> ${name} `,
  )}</p>`
}

function marks(width: number, atS: readonly number[], lines: readonly Line[]): Html {
  const most = niceAbove(Math.max(0, ...lines.flatMap(({ values }) => values.map(Number))))
  const [from, to] = [atS[0] ?? 0, Math.max(atS.at(-1) ?? 1, (atS[0] ?? 0) + 1)]
  const x = (s: number) => (left + ((s - from) / (to - from)) * (width - left - right)).toFixed(1)
  const y = (value: number) =>
    (height - bottom - (value / most) * (height - top - bottom)).toFixed(1)
  const label = (at: string | number, down: string | number, anchor: string, text: string) =>
    html`<text x="${at}" y="${down}" text-anchor="${anchor}" font-size="12" fill="var(--muted)">${text}</text>`
  return html`${[0, most / 2, most].map(
    (value) =>
      html`<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="var(--grid)"/>${label(left - 8, Number(y(value)) + 4, 'end', shortOf(value))}`,
  )}${label(left, height - 4, 'start', `${shortOf(from)} s`)}${label(width - right, height - 4, 'end', `${shortOf(to)} s`)}${lines.map(
    ({ color, values }) =>
      html`<polyline fill="none" stroke="var(--${color})" stroke-width="2" points="${values
        .map((value, at) => (value === null ? '' : `${x(atS[at]!)},${y(value)}`))
        .join(' ')}"/>`,
  )}`
}

/** The smallest 1, 2 or 5 times a power of ten that is not below the value. */
function niceAbove(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].find((each) => each * power >= value)! * power
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })
const shortOf = (value: number | null | undefined) =>
  value === null || value === undefined ? 'not known' : compact.format(value)

/** Keeps at most as many points as a chart shows: when it is full, every second one is dropped. */
export class Points<Point> {
  private readonly most: number
  private every = 1
  private seen = 0
  kept: Point[] = []

  constructor(most = 600) {
    this.most = most
  }

  add(point: Point): void {
    if (this.seen++ % this.every !== 0) return
    this.kept.push(point)
    if (this.kept.length < this.most) return
    this.kept = this.kept.filter((_, at) => at % 2 === 0)
    this.every *= 2
  }
}
