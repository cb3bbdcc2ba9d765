// @ts-check
// Draws lines over bars of time.
import { frame, h, largest, niceAbove, r, svg, timeAxis } from './elements.js'

/** @import { Bars, BoardSpeech, Series, Size, Tree } from './types.ts' */
/** @import { Scale } from './elements.js' */

/**
 * Lines over bars; a null is a gap.
 *
 * @param {BoardSpeech} speech
 * @param {string} label
 * @param {Bars} data
 * @param {readonly { readonly kind: string; readonly values: Series['values'] }[]} lines
 * @param {Size} size
 * @returns {Tree}
 */
export function drawLines(speech, label, data, lines, size) {
  const { bars } = data
  const { width, height } = size
  const most = niceAbove(largest(lines.flatMap(({ values }) => values)))
  const { left, y, lines: grid } = frame(speech, width, height, most)
  const step = (width - left) / Math.max(1, bars.length)
  /** @type {Scale} */
  const x = (at) => left + at * step
  return svg(label, size, { left, step: r(step * 1000) / 1000, bars: bars.length }, [
    ...grid,
    ...lines.map(({ kind, values }) => {
      let [path, isOn] = ['', false]
      values.forEach((value, at) => {
        if (value === null) isOn = false
        else {
          // A value alone is a dot.
          const middle = x(at) + step / 2
          path += isOn ? `L${r(middle)} ${r(y(value))}` : `M${r(middle - 1)} ${r(y(value))}h2`
          isOn = true
        }
      })
      return h('path', { class: `b-line ${kind}`, d: path })
    }),
    ...timeAxis(speech, data, x, size),
  ])
}
