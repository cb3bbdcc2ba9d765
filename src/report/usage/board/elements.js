// @ts-check
// The elements that the charts of a usage page are made of: the page’s maker turns a tree into markup, and the browser into elements.
// Text is a child, so nothing of the data can be markup.
import { item } from './sums.js'

/** @import { Bars, BoardSpeech, Child, Element, LegendEntry, Series, Size } from './types.ts' */

/** @typedef {(place: number) => number} Scale from a value, or a place in a list, to pixels */

/**
 * An element; children that are not there are left out.
 *
 * @param {string} name
 * @param {Element['attributes']} attributes
 * @param {readonly (Child | readonly Child[])[]} children
 * @returns {Element}
 */
export const h = (name, attributes, ...children) => ({
  name,
  attributes,
  children: children
    .flat()
    .flatMap((each) => (each === false || each === null || each === '' ? [] : [each])),
})

/** @param {number} value */
export const r = (value) => Math.round(value * 10) / 10

/**
 * The largest of values of which some may be null, and 0 if there is none above it.
 *
 * @param {readonly (number | null)[]} values
 */
export function largest(values) {
  let most = 0
  for (const value of values) if (value !== null && value > most) most = value
  return most
}

/**
 * The smallest 1, 1.5, 2, 3, 5, 7.5 or 10 times a power of ten that is not below the value.
 *
 * @param {number} value
 */
export function niceAbove(value) {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 1.5, 2, 3, 5, 7.5].find((each) => each * power >= value) ?? 10)
}

export const top = 14

export const axisLeft = 52

export const bottom = 24

/**
 * The frame of a chart: places of its axes.
 *
 * @param {BoardSpeech} speech
 * @param {number} width
 * @param {number} height
 * @param {number} most
 */
export function frame(speech, width, height, most) {
  const left = axisLeft
  /** @type {Scale} */
  const y = (value) => top + (1 - Math.min(value, most) / most) * (height - top - bottom)
  const lines = [0, 0.5, 1].flatMap((share) => [
    h('path', { class: 'b-grid', d: `M${left} ${r(y(share * most))}H${width}` }),
    h(
      'text',
      { x: left - 6, y: r(y(share * most) + 4), 'text-anchor': 'end' },
      speech.compact(share * most),
    ),
  ])
  return { left, y, lines }
}

/**
 * @param {string} chart
 * @param {Size} size
 * @param {Readonly<Record<string, number>>} geometry what the cursor of the browser must know
 * @param {readonly Child[]} children
 */
export function svg(chart, { width, height }, geometry, children) {
  return h(
    'svg',
    {
      ...{ class: 'b-chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': chart },
      ...Object.fromEntries(
        Object.entries(geometry).map(([name, value]) => [`data-${name}`, value]),
      ),
    },
    children,
  )
}

/**
 * Some of the bars with their times; the last is now if it still runs.
 *
 * @param {BoardSpeech} speech
 * @param {Bars} bars
 * @param {Scale} x
 * @param {Size} size
 * @param {readonly number[]} [marked] bars that have their times, before others
 */
export function timeAxis(speech, { bucket, bars }, x, { width, height }, marked = []) {
  const most = Math.max(2, Math.min(6, Math.floor((width - axisLeft) / 90)))
  const step = Math.ceil(bars.length / most)
  const span = (bars.at(-1)?.end ?? 0) - (bars[0]?.start ?? 0)
  /** @type {number[]} */
  const shown = []
  return [...marked, ...bars.keys()].flatMap((at, nth) => {
    const isMarked = nth < marked.length
    const isOut = !isMarked && (at % step !== 0 || (at > 0 && x(at) >= width - 56))
    if (isOut || shown.some((other) => Math.abs(x(at) - x(other)) < 48)) return []
    shown.push(at)
    const { start, open } = item(bars, at)
    const isNow = isMarked && open && at === bars.length - 1
    const text = isNow ? speech.say('now') : speech.tick(bucket, start, span)
    const middle = Math.min((x(at) + x(at + 1)) / 2, width - Math.max(20, widthOf(text) / 2))
    return h(
      'text',
      {
        ...{ x: r(isMarked ? middle : x(at)), y: height - 6 },
        'text-anchor': isMarked ? 'middle' : 'start',
      },
      text,
    )
  })
}

/**
 * About how wide words are, in the pixels of a drawing.
 *
 * @param {string} text
 */
export const widthOf = (text) =>
  [...text].reduce((sum, sign) => sum + (sign > '\u2e80' ? 12 : 7), 0)

/** @type {(name: string, at: number) => string} */
export const classOf = (name, at) => (name === '(other)' ? 's8' : `s${at + 1}`)

/** @type {(nameOf: (name: string) => string, series: readonly Series[]) => readonly LegendEntry[]} */
export const legendOf = (nameOf, series) =>
  series.map(({ name }, at) => [nameOf(name), classOf(name, at)])

/**
 * A legend, for names with these classes.
 *
 * @param {readonly LegendEntry[]} names
 */
export const drawLegend = (names) =>
  h(
    'ul',
    { class: 'b-legend' },
    names.map(([name, kind]) => h('li', {}, h('i', { class: kind }), name)),
  )
