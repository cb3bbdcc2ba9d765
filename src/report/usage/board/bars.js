// @ts-check
// Draws bars over time.
import { besideBars } from './callouts.js'
import {
  classOf,
  frame,
  h,
  largest,
  niceAbove,
  r,
  svg,
  timeAxis,
  top,
  widthOf,
} from './elements.js'
import { item } from './sums.js'

/** @import { BoardData, DearBar } from './data.ts' */
/** @import { Bar, Bars, BoardSpeech, LegendEntry, Mark, Series, Size, Tree } from './types.ts' */
/** @import { Scale } from './elements.js' */

/** A bar of so many times the usual one leaves the others readable. */
const readable = 12

/**
 * The highest value of the axis. A bar far above the usual one is cut, and its value is written at it; the axis still reaches the
 * second highest, so that two unequal bars never end at one height.
 *
 * @param {readonly number[]} totals
 */
export function ceilingOf(totals) {
  const sorted = totals.filter((value) => value > 0).sort((a, b) => b - a)
  const [first = 0, second = 0] = sorted
  // Of working days, which weekends are far below.
  const [usual = 0] = sorted.slice(sorted.length >> 2)
  return niceAbove(first > readable * usual ? Math.min(first, 1.25 * second) : first)
}

/**
 * The height of each bar.
 *
 * @type {(bars: readonly Bar[], series: readonly Series[]) => readonly number[]}
 */
const totalsOf = (bars, series) =>
  bars.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0))

/**
 * The number over a bar, which the list under the chart has too.
 *
 * @param {number | string} rank
 */
export const markOf = (rank) => `▾${rank}`

/**
 * Bars over time, one path for each series. `marks` are numbers over some bars; the bars of `dears` say their value, and the first of
 * them why they are far above the others. With `peak`, the highest bar says its value and its time. `blank` says why times have no bars.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {Bars & { readonly series: readonly Series[]; readonly marks?: readonly Mark[]; readonly dears?: readonly DearBar[]; readonly peak?: boolean; readonly blank?: BoardData['blank'] }} data
 * @param {Size & { readonly classes?: readonly string[] }} size classes of the series, if they have their own
 * @returns {Tree}
 */
export function drawBars(speech, label, data, size) {
  const { bars, series, marks = [], dears = [], blank = [] } = data
  const { width, height, classes } = size
  const totals = totalsOf(bars, series)
  const most = ceilingOf(totals)
  const { left, y, lines } = frame(speech, width, height, most)
  const step = (width - left) / Math.max(1, bars.length)
  const gap = step > 5 ? Math.min(4, step * 0.15) : 0
  /** @type {Scale} */
  const x = (at) => left + at * step
  const floors = bars.map(() => 0)
  const paths = series.flatMap(({ name, values }, at) => {
    let [done, open] = ['', '']
    values.forEach((value, bar) => {
      if (value === null || value <= 0) return
      const from = item(floors, bar)
      floors[bar] = from + value
      if (from >= most) return
      const mark = `M${r(x(bar) + gap / 2)} ${r(y(from))}V${r(y(from + value))}h${r(step - gap)}V${r(y(from))}z`
      if (bars[bar]?.open) open += mark
      else done += mark
    })
    const kind = classes?.[at] ?? classOf(name, at)
    return [
      done !== '' && h('path', { class: kind, d: done }),
      open !== '' && h('path', { class: `${kind} b-open`, d: open }),
    ]
  })
  // A bar that is cut has a break, so that nobody reads its height.
  const breaks = totals
    .map((value, at) => (value <= most ? '' : `M${r(x(at) - 1)} ${top + 18}l${r(step + 2)} -8`))
    .join('')
  const dark = bars
    .map(({ measured }, at) =>
      measured ? '' : `M${r(x(at))} ${top}h${r(step)}V${r(y(0))}h${r(-step)}z`,
    )
    .join('')
  const explained = dears
    .map((dear) => ({ ...dear, at: bars.findIndex(({ start }) => start === dear.hour) }))
    .filter(({ at }) => (totals[at] ?? 0) > 0)
  const running = data.bucket === 'day' && bars.at(-1)?.open ? [bars.length - 1] : []
  const named = explained.map(({ at }) => at)
  const peak = totals.indexOf(largest(totals))
  if (data.peak && totals[peak]) named.push(peak)
  /** @param {number} place */
  const isDear = (place) => named.includes(place)
  const words = totals.map((value, at) => {
    const ranks = marks.filter(({ bar }) => bar === at).map(({ rank }) => markOf(rank))
    const shown = value > most ? `↑ ${speech.show(value)}` : isDear(at) && speech.show(value)
    return [shown, ...ranks].filter(Boolean).join(' ')
  })
  // Words over neighbours turn away from each other, with a space between them, and end with the drawing.
  let free = left
  const over = totals
    .flatMap((value, at) => {
      const text = item(words, at)
      if (text === '') return []
      const wide = widthOf(text) * (isDear(at) ? 1.2 : 1)
      const from = Math.max(free, x(at) + (step - wide) / 2)
      free = from + wide + 6
      const base = y(value) - 4
      // No line passes through a word.
      const line = [most, most / 2].map(y).find((each) => Math.abs(base - 4 - each) < 5)
      return [
        { text, from, wide, y: line ? line - 3 : base, kind: isDear(at) ? 'b-dear' : 'b-cut' },
      ]
    })
    .reverse()
    .map(({ wide, ...word }, nth) => {
      if (nth === 0) free = width + 6
      free = Math.min(word.from, free - 6 - wide)
      return { ...word, from: free, to: free + wide }
    })
    .reverse()
  return svg(label, size, { left, step: r(step * 1000) / 1000, bars: bars.length }, [
    dark !== '' && h('path', { class: 'b-unmeasured', d: dark }),
    ...lines,
    ...paths,
    breaks !== '' && h('path', { class: 'b-break', d: breaks }),
    ...over.map(({ text, from, y, kind }) => h('text', { class: kind, x: r(from), y: r(y) }, text)),
    ...besideBars(explained, {
      ...{ x, step, width },
      topOf: (at) => y(totals[at] ?? 0),
      over: over.map(({ from, to, y }) => ({ from, to, first: y, last: y })),
    }),
    ...blank.map(({ from, to, text }) => {
      const [first, last] = [from, to].map((hour) => bars.findIndex(({ end }) => end >= hour))
      return h(
        'text',
        {
          ...{ class: 'b-word', 'text-anchor': 'middle', y: height / 2 + 9 },
          x: r((x(first ?? 0) + x((last ?? 0) + 1)) / 2),
        },
        text,
      )
    }),
    ...timeAxis(speech, data, x, size, [...named, ...running]),
  ])
}

/**
 * What pale bars and grey ground mean, if a chart has them.
 *
 * @type {(speech: BoardSpeech, bars: readonly Bar[]) => readonly LegendEntry[]}
 */
export const legendOfBars = ({ say }, bars) => {
  /** @type {LegendEntry[]} */
  const legend = []
  if (bars.some(({ open }) => open)) legend.push([say('open'), 's1 b-open'])
  if (bars.some(({ measured }) => !measured)) legend.push([say('unmeasured'), 'b-unmeasured'])
  return legend
}

/**
 * What a break in a bar means, if a chart has one.
 *
 * @type {(speech: BoardSpeech, drawn: Bars & { readonly series: readonly Series[] }) => readonly LegendEntry[]}
 */
export const legendOfCut = ({ say }, { bars, series }) => {
  const totals = totalsOf(bars, series)
  const most = ceilingOf(totals)
  return totals.some((value) => value > most) ? [[say('cut'), 's1 b-broken']] : []
}
