// @ts-check
// The charts of half a row: failures, kinds of tokens, and the hours of a week.
import { drawBars, legendOfBars, legendOfCut } from './bars.js'
import { drawLegend } from './elements.js'
import { drawLines } from './lines.js'
import { overTime } from './over-time.js'
import { speechOf } from './speech.js'
import { perBar } from './sums.js'
import { share } from './tables.js'
import { drawWeek, weekCell, weekShades } from './week.js'

/** @import { BoardData } from './data.ts' */
/** @import { Series, Size, View } from './types.ts' */

/** @typedef {ReturnType<typeof perBar>} Sums */

/**
 * @param {BoardData} data
 * @param {Sums} bars
 * @param {Size} size
 * @returns {View}
 */
export function failuresView(data, bars, size) {
  const { requests, failed, limited } = bars
  const speech = speechOf(data)
  const { say } = speech
  /** @param {Series['values']} some */
  const shares = (some) =>
    some.map((value, at) => (value === null ? null : share(value, requests[at] ?? 0)))
  const title = say(bars.bucket, { what: say('failures') })
  const lines = [
    { kind: 'b-failed', values: shares(failed) },
    { kind: 'b-limited b-dotted', values: shares(limited) },
  ]
  return {
    ...{ id: 'failures', title },
    tree: drawLines(speech, title, bars, lines, size),
    legend: drawLegend([
      [say('failuresAll'), 'b-stroke b-failed'],
      [say('limits'), 'b-stroke b-limited b-dotted'],
    ]),
    ...overTime(data, bars, [
      { name: say('requestsHead'), values: requests },
      { name: say('failedHead'), values: failed },
      { name: say('limited'), values: limited },
    ]),
  }
}

/** @type {(a: Series['values'], b: Series['values']) => Series['values']} */
const minus = (a, b) => a.map((value, at) => (value === null ? null : value - (b[at] ?? 0)))

/**
 * @param {BoardData} data
 * @param {Sums} bars
 * @param {Size} size
 * @returns {View}
 */
export function tokensView(data, bars, size) {
  const speech = speechOf(data)
  const { say } = speech
  const title = say(bars.bucket, { what: say('kinds') })
  const series = [
    { name: say('input'), kind: 'h7', values: minus(bars.input, bars.cached) },
    { name: say('cached'), kind: 'h5', values: bars.cached },
    { name: say('output'), kind: 'h3', values: bars.output },
  ]
  const classes = series.map(({ kind }) => kind)
  return {
    ...{ id: 'tokens', title },
    tree: drawBars(speech, title, { ...bars, series }, { ...size, classes }),
    legend: drawLegend([
      ...series.map(({ name, kind }) => /** @type {const} */ ([name, kind])),
      ...legendOfBars(speech, bars.bars),
      ...legendOfCut(speech, { ...bars, series }),
    ]),
    ...overTime(data, bars, series),
  }
}

/**
 * @param {BoardData} data
 * @param {readonly (number | null)[]} cells
 * @param {Size} size
 * @returns {View}
 */
export function weekView(data, cells, size) {
  const speech = speechOf(data)
  const title = speech.say('busy')
  return {
    ...{ id: 'week', title },
    tree: drawWeek(speech, title, cells, size),
    note: speech.say('busyNote'),
    legend: drawLegend(weekShades(cells).map(({ kind, least }) => [speech.show(least), kind])),
    rows: 24,
    stops: () =>
      cells.map((value, at) => ({
        ...weekCell(at, size),
        said: `${speech.weekdays[Math.floor(at / 24)]} ${speech.clock(at % 24)}: ${value === null ? speech.say('unmeasured') : speech.show(value)}`,
      })),
    table: () => [
      [speech.say('time'), ...speech.weekdays],
      Array.from({ length: 24 }, (_, hour) => [
        speech.clock(hour),
        ...speech.weekdays.map((_, day) => cells[day * 24 + hour]),
      ]),
    ],
  }
}
