// @ts-check
// Draws the hours of the week.
import { h, largest, r, svg } from './elements.js'

/** @import { BoardSpeech, Size, Tree } from './types.ts' */

const weekLeft = 40

/**
 * The place of an hour of the week.
 *
 * @param {number} at
 * @param {Pick<Size, 'width'>} size
 */
export function weekCell(at, { width }) {
  const step = (width - weekLeft) / 24
  return {
    ...{ x: r(weekLeft + (at % 24) * step), y: Math.floor(at / 24) * 24 },
    ...{ width: r(step - 1), height: 23 },
  }
}

/**
 * The shade of a median: none for 0 and for what was given back, else one of seven.
 *
 * @param {number} value
 * @param {number} most
 */
const shadeOf = (value, most) =>
  value <= 0 ? 'h0' : `h${Math.min(7, 1 + Math.floor((7 * value) / (most * 1.0001)))}`

/**
 * The shades of these medians, each with the least median that it stands for.
 *
 * @param {readonly (number | null)[]} cells
 */
export function weekShades(cells) {
  const most = largest(cells)
  const values = cells.flatMap((value) => (value !== null && value > 0 ? [value] : []))
  /** @type {Map<string, number>} */
  const least = new Map()
  for (const value of [0, ...values.sort((a, b) => a - b)]) {
    const kind = shadeOf(value, most)
    if (!least.has(kind)) least.set(kind, value)
  }
  return [...least].map(([kind, value]) => ({ kind, least: value }))
}

/**
 * Medians of the hours of the week.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {readonly (number | null)[]} cells
 * @param {Pick<Size, 'width'>} size
 * @returns {Tree}
 */
export function drawWeek(speech, label, cells, { width }) {
  const left = weekLeft
  const weekdays = speech.shortWeekdays
  const [stepX, stepY] = [(width - left) / 24, 24]
  const most = largest(cells)
  /** @param {number} value */
  const shade = (value) => shadeOf(value, most)
  return svg(label, { width, height: 7 * stepY + 26 }, { left }, [
    ...weekdays.map((day, at) =>
      h('text', { x: left - 6, y: at * stepY + 16, 'text-anchor': 'end' }, day),
    ),
    ...cells.flatMap((value, at) =>
      value === null
        ? []
        : [
            h(
              'rect',
              { class: shade(value), ...weekCell(at, { width }) },
              h(
                'title',
                {},
                `${weekdays[Math.floor(at / 24)]} ${speech.clock(at % 24)}: ${speech.show(value)}`,
              ),
            ),
          ],
    ),
    ...[0, 6, 12, 18].map((hour) =>
      h('text', { x: r(left + hour * stepX), y: 7 * stepY + 16 }, speech.clock(hour)),
    ),
  ])
}
