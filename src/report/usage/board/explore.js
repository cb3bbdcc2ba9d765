// A cursor over the values of a chart, for the pointer and the arrow keys.
import { h } from './elements.js'
import { make } from './nodes.js'
import { item } from './sums.js'

/** @import { Bar, BoardSpeech, Stop, View } from './types.ts' */

/**
 * The values of a chart that the pointer and the arrow keys reach: a place in the drawing, and what is said.
 *
 * @param {View} view
 * @param {SVGSVGElement} svg
 * @param {BoardSpeech} speech
 * @returns {readonly Stop[]}
 */
function stopsOf(view, svg, { say, timeOf }) {
  if (view.bars === undefined) return view.stops()
  const [left, step] = [Number(svg.dataset.left), Number(svg.dataset.step)]
  const height = svg.viewBox.baseVal.height - 38
  return view.bars.map((bar, at) => {
    const values = view.describe(at).map(([name, value]) => `${name} ${value}`)
    const nothing = say(bar.measured ? 'nothing' : 'unmeasured')
    const open = bar.open ? ` (${say('open')})` : ''
    const why = view.whyOf?.(at)
    return {
      ...{ x: left + at * step, y: 14, width: step, height, bar },
      said: `${timeOf(view.bucket, bar)}: ${values.join(', ') || nothing}${open}${why ? `. ${why}` : ''}`,
    }
  })
}

/**
 * A cursor over the values of a chart.
 *
 * @param {HTMLElement | SVGElement} stage holds the drawing
 * @param {Element} said where a value is written
 * @param {View} view
 * @param {BoardSpeech} speech
 * @param {(bar: Bar) => void} open
 */
export function explore(stage, said, view, speech, open) {
  const svg = stage.querySelector('svg')
  if (svg === null) return
  const stops = stopsOf(view, svg, speech)
  if (stops.length === 0) return
  let at = -1
  const cursor = make(h('path', { class: 'b-cursor' }))
  svg.append(cursor)
  /** @param {number} place */
  const tell = (place) => {
    at = Math.max(0, Math.min(stops.length - 1, place))
    const { x, y, width, height, said: text } = item(stops, at)
    said.textContent = text
    cursor.setAttribute('d', `M${x} ${y}h${width}v${height}h${-width}z`)
  }
  const openStop = () => {
    const bar = stops[at]?.bar
    if (bar !== undefined) open(bar)
  }
  stage.tabIndex = 0
  stage.setAttribute('role', 'group')
  const word = view.bars === undefined ? 'exploreValues' : 'explore'
  stage.setAttribute('aria-label', speech.say(word, { title: view.title, bars: stops.length }))
  const rows = view.bars === undefined ? view.rows : undefined
  /**
   * Moves the cursor to a place of the drawing; a tap is no move before it is a click.
   *
   * @param {MouseEvent} event
   * @returns {boolean} whether there is a value
   */
  const point = (event) => {
    const box = svg.getBoundingClientRect()
    const scale = svg.viewBox.baseVal.width / box.width
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale]
    const place = stops.findIndex(
      (stop) =>
        x >= stop.x &&
        x < stop.x + stop.width &&
        (rows === undefined || (y >= stop.y && y < stop.y + stop.height)),
    )
    if (place >= 0) tell(place)
    return place >= 0
  }
  stage.onpointermove = point
  // A screen reader clicks without a pointer, in the middle of the stage.
  stage.onclick = (event) => (event.detail === 0 || point(event)) && openStop()
  stage.onkeydown = (event) => {
    const row = rows ?? 1
    /** @type {Readonly<Record<string, number>>} */
    const moves = {
      ...{ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: stops.length - 1 },
      ...(row > 1 ? { ArrowDown: at + row, ArrowUp: at - row } : {}),
    }
    const place = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
    if (place !== undefined) tell(place)
    else if (event.key === 'Enter') openStop()
    else return
    event.preventDefault()
  }
}
