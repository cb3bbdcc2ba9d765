import { type Html, html } from '../user/html.ts'
import type { Answers } from './shapes.ts'
import type { Speech } from './speech.ts'

const [width, height, left, bottom, top] = [720, 220, 52, 26, 10] as const
const colours = 10

/** Bars over time as SVG: one path for each series, stacked. */
export function drawBars(data: Answers['series'], speech: Speech, timezone: string): Html {
  const { bars, series } = data
  const totals = bars.map((_, at) =>
    series.reduce((sum, { values }) => sum + Math.max(0, Number(values[at] ?? 0)), 0),
  )
  const most = niceAbove(Math.max(0, ...totals))
  const step = (width - left) / Math.max(1, bars.length)
  const gap = step > 6 ? 1.5 : 0
  const y = (value: number) => top + (1 - value / most) * (height - top - bottom)
  const floor = bars.map(() => 0)
  const paths = series.map(({ values }, at) => {
    const marks = { done: '', open: '' }
    values.forEach((text, bar) => {
      const value = Math.max(0, Number(text ?? 0))
      if (value === 0) return
      const from = floor[bar]!
      floor[bar] = from + value
      const x = left + bar * step + gap / 2
      const [low, high] = [y(from), y(from + value)]
      const mark = `M${x.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}h${(step - gap).toFixed(1)}V${low.toFixed(1)}z`
      marks[bars[bar]!.open ? 'open' : 'done'] += mark
    })
    return html`${marks.done !== '' && html`<path class="s${at % colours}" d="${marks.done}"/>`}${marks.open !== '' && html`<path class="s${at % colours} open" d="${marks.open}"/>`}`
  })
  const zero = bars
    .map((bar, at) =>
      bar.measured ? `M${(left + at * step).toFixed(1)} ${y(0)}h${step.toFixed(1)}` : '',
    )
    .join('')
  return html`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${axis(most, y, speech)}${paths}<path class="zero" d="${zero}"/>${dates(
    bars.map(({ start }) => Date.parse(start)),
    data.bucket === 'hour' && bars.length <= 49,
    speech,
    timezone,
  )}</svg>`
}

/** A fan of the credits to come: the usual range and the most likely course. */
export function drawFan(fan: Answers['outlook']['fan'], speech: Speech, timezone: string): Html {
  const most = niceAbove(Math.max(0, ...fan.map(({ p90 }) => p90)))
  const x = (at: number) => (left + (at / Math.max(1, fan.length - 1)) * (width - left)).toFixed(1)
  const y = (value: number) => top + (1 - value / most) * (height - top - bottom)
  const line = (of: (point: (typeof fan)[number]) => number, points = fan, back = false) =>
    points
      .map((point, at) => `${x(back ? fan.length - 1 - at : at)} ${y(of(point)).toFixed(1)}`)
      .join('L')
  const band = `M${line(({ p90 }) => p90)}L${line(({ p10 }) => p10, [...fan].reverse(), true)}z`
  return html`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${axis(most, y, speech)}<path class="band" d="${band}"/><path class="line" d="M${line(({ p50 }) => p50)}"/>${dates(
    fan.map(({ at }) => Date.parse(at)),
    false,
    speech,
    timezone,
  )}</svg>`
}

function axis(most: number, y: (value: number) => number, speech: Speech): Html {
  return html`${[0, most / 2, most].map(
    (value) =>
      html`<path class="grid" d="M${left} ${y(value).toFixed(1)}H${width}"/><text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${speech.short(value)}</text>`,
  )}`
}

function dates(
  ms: readonly number[],
  areHours: boolean,
  { locale }: Speech,
  timeZone: string,
): Html {
  const isLong = ms.length > 1 && ms.at(-1)! - ms[0]! > 400 * 86_400_000
  const words = new Intl.DateTimeFormat(locale, {
    timeZone,
    ...(areHours
      ? { hour: '2-digit', minute: '2-digit' }
      : isLong
        ? { year: 'numeric', month: 'short' }
        : { month: 'short', day: 'numeric' }),
  })
  const count = Math.min(6, ms.length)
  const step = (width - left) / Math.max(1, ms.length)
  return html`${Array.from({ length: count }, (_, at) => {
    const place = Math.floor((at * ms.length) / count)
    return html`<text x="${(left + place * step).toFixed(1)}" y="${height - 6}">${words.format(ms[place])}</text>`
  })}`
}

/** The smallest 1, 2 or 5 times a power of ten that is not below the value. */
function niceAbove(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].find((each) => each * power >= value)! * power
}
