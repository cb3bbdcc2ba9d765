// @ts-check
// What the usage page shows of a choice: every chart, card and table. It runs where the page is made and in the browser.
import { drawBars, legendOfBars, legendOfCut, markOf } from './bars.js'
import { cumulativeX, drawCumulative, legendOfCumulative } from './cumulative.js'
import { drawLegend, h, legendOf } from './elements.js'
import { drawLines } from './lines.js'
import { speechOf } from './speech.js'
import {
  bucketOf,
  buckets,
  chosen,
  dimensions,
  item,
  metrics,
  perBar,
  stacked,
  total,
  week,
} from './sums.js'
import { cardsOf, share, tablesOf, titleOf } from './tables.js'
import { drawWeek, weekCell, weekShades } from './week.js'

/** @import { BoardData } from './data.ts' */
/** @import { Bar, Bars, BarsView, Choice, Point, Series, Size, SizeName, Span, View, Views } from './types.ts' */

/** @typedef {ReturnType<typeof perBar>} Sums */
/** @typedef {(data: BoardData, places: readonly number[], choice: Choice, bars: Sums) => ((size: Size) => View) | null} LatencyOf the view of latencies, if there are any */

/**
 * Cumulative use at the end of each of at most 400 buckets.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Choice} choice
 */
function cumulative(data, places, choice) {
  const name = bucketOf(data, choice.from, choice.to)
  /** @type {Map<number, number>} */
  const sums = new Map()
  const value = metrics[choice.metric]
  for (const at of places) {
    const start = buckets[name].of(item(data.cells.hour, at))
    sums.set(start, (sums.get(start) ?? 0) + (value(data, at) ?? 0))
  }
  let sum = 0
  const last = Math.min(choice.to, data.now, data.measuredTo)
  /** @type {Point[]} */
  const points = []
  const { of, next } = buckets[name]
  // A request at the end of the measured time counts, too.
  for (let start = of(choice.from); start < last || sums.has(start); start = next(start)) {
    sum += sums.get(start) ?? 0
    points.push({ hour: Math.max(start, Math.min(next(start), last)), sum })
  }
  return points
}

const column = { width: 660, height: 200 }
const phone = { width: 320, height: 200 }

/**
 * Sizes of drawings: wide and half. Each is about as wide as its place, so that its words are as large as those around it.
 *
 * @type {Readonly<Record<SizeName, Readonly<Record<'wide' | 'half', Size>>>>}
 */
const sizes = {
  desk: { wide: { width: 1000, height: 250 }, half: { width: 480, height: 190 } },
  middle: { wide: column, half: column },
  paper: { wide: column, half: phone },
  phone: { wide: phone, half: phone },
}

/**
 * All views of a choice. A table is lazy: rows are made only if the reader asks.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {SizeName} [size]
 * @param {LatencyOf} [latencyOf] of data that have latencies
 * @returns {Views}
 */
export function viewsOf(data, choice, size = 'desk', latencyOf) {
  const { wide, half } = sizes[size]
  const places = chosen(data, choice)
  const sums = total(data, places)
  const unfiltered = dimensions.every((name) => choice[name] === '')
  const bars = perBar(data, places, choice)
  const isWeek = data.finest === 'hour' && choice.to - choice.from >= 168
  // Of few requests, each hour's median is 0, which shows nothing.
  const hours = isWeek ? week(data, places, choice) : []
  /** @type {((size: Size) => View)[]} */
  const halves = [(box) => failuresView(data, bars, box)]
  if (sums.input !== null || sums.output !== null) halves.push((box) => tokensView(data, bars, box))
  const latency = latencyOf?.(data, places, choice, bars)
  if (latency) halves.push(latency)
  if (hours.some((median) => median !== null && median > 0))
    halves.push((box) => weekView(data, hours, box))
  // The last of an odd number has its row for itself.
  /** @param {number} at */
  const isAlone = (at) => at === halves.length - 1 && at % 2 === 0
  const views = [
    useView(data, choice, places, unfiltered, wide),
    cumulativeView(data, choice, places, unfiltered, wide),
    ...halves.map((view, at) => (isAlone(at) ? { ...view(wide), whole: true } : view(half))),
  ]
  return {
    ...{ sums, views },
    cards: cardsOf(data, sums),
    tables: tablesOf(data, places, choice),
  }
}

/**
 * What a view says of its bars: of one, and as a table.
 *
 * @param {BoardData} data
 * @param {Bars} bars
 * @param {readonly Series[]} series
 * @returns {Pick<BarsView, 'bars' | 'bucket' | 'describe' | 'table'>}
 */
export function overTime(data, { bars, bucket }, series) {
  const { say, show, timeOf } = speechOf(data)
  return {
    ...{ bars, bucket },
    describe: (at) => series.map(({ name, values }) => [name, show(values[at])]),
    table: () => [
      [say('time'), ...series.map(({ name }) => name)],
      bars.map((bar, at) => [timeOf(bucket, bar), ...series.map(({ values }) => values[at])]),
    ],
  }
}

/**
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {readonly number[]} places
 * @param {boolean} unfiltered
 * @param {Size} size
 * @returns {BarsView}
 */
function useView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const main = stacked(data, places, choice)
  /** @param {string} name */
  const nameOf = (name) => speech.nameOf(name, choice.by, main.rest)
  const title = speech.say(main.bucket, { what: titleOf(data, choice.metric) })
  const marks = unfiltered ? marksOf(data, choice, main.bars) : []
  const { bars, bucket } = main
  const isAmount = bucket === 'day' && (choice.metric === 'credits' || choice.metric === 'money')
  // The reasons of one part are none of another.
  const isExplained = dimensions.every((name) => choice[name] === data.dearsOf[name])
  const dears = isAmount && isExplained ? data.dears : []
  /** @param {number} at */
  const whyOf = (at) => dears.find(({ hour }) => hour === bars[at]?.start)?.said ?? null
  const series = main.series.map(({ name, values }) => ({ name: nameOf(name), values }))
  const legend = [
    ...(series.length > 1 ? legendOf(nameOf, main.series) : []),
    ...legendOfBars(speech, bars),
    ...legendOfCut(speech, main),
    ...(marks.length > 0 ? [/** @type {const} */ ([speech.say('marked'), 'b-mark'])] : []),
  ]
  const table = overTime(data, main, series)
  return {
    ...{ id: 'use', wide: true, title, speech },
    note: choice.metric === 'credits' ? data.aboutUnit : null,
    tree: drawBars(
      speech,
      `${title}, ${speech.say('by')} ${speech.say(choice.by)}`,
      { ...main, marks, dears, blank: choice.metric === 'credits' ? data.blank : [] },
      size,
    ),
    legend: legend.length > 0 ? drawLegend(legend) : null,
    under:
      marks.length === 0
        ? null
        : h(
            'div',
            { class: 'b-marks' },
            h('h4', {}, speech.say('marks')),
            h(
              'ol',
              {},
              marks.map(({ rank, text, from, to }) =>
                h('li', { 'data-from': from, 'data-to': to }, `${markOf(rank)} ${text}`),
              ),
            ),
          ),
    ...table,
    table: () => {
      const [heads, rows] = table.table()
      return bars.some((_, at) => whyOf(at) !== null)
        ? [[...heads, speech.say('why')], rows.map((row, at) => [...row, whyOf(at) ?? ''])]
        : [heads, rows]
    },
    describe: (at) =>
      series
        .filter(({ values }) => values[at] !== null)
        .map(({ name, values }) => [name, speech.show(values[at])]),
    whyOf,
  }
}

/** The most marks over a chart: the greatest. */
const mostMarks = 12

/**
 * The greatest unusual hours within the choice in the order of time, each with its bar and its day.
 *
 * @param {BoardData} data
 * @param {Span} span
 * @param {readonly Bar[]} bars
 */
function marksOf(data, { from, to }, bars) {
  return data.marks
    .filter(({ hour }) => hour >= from && hour < to)
    .slice(0, mostMarks)
    .sort((a, b) => a.hour - b.hour)
    .map(({ hour, text }, at) => ({
      ...{ rank: at + 1, text, from: Math.max(data.from, Math.floor(hour / 24) * 24) },
      to: Math.min(data.to, Math.floor(hour / 24) * 24 + 24),
      bar: bars.findIndex(({ start, end }) => start <= hour && hour < end),
    }))
}

/**
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {readonly number[]} places
 * @param {boolean} unfiltered
 * @param {Size} size
 * @returns {View}
 */
function cumulativeView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const { say, timeOf } = speech
  const what = titleOf(data, choice.metric)
  const isWhole = choice.metric === 'credits' && unfiltered && choice.to === data.to
  const outlook = isWhole ? data.outlook : null
  const points = cumulative(data, places, choice)
  return {
    ...{ id: 'cumulative', wide: true, speech },
    title: say(outlook === null ? 'sum' : outlook.balance === null ? 'course' : 'held', { what }),
    note: outlook === null ? null : say('outlook'),
    legend: outlook === null ? null : drawLegend(legendOfCumulative(speech, outlook)),
    tree: drawCumulative(speech, say('sum', { what }), choice, points, outlook, {
      ...size,
      now: data.now,
    }),
    stops: () => {
      const { x } = cumulativeX(choice, outlook, size)
      return points.map(({ hour, sum }, at) => {
        const start = x(points[at - 1]?.hour ?? choice.from)
        return {
          ...{ x: start, y: 14, width: x(hour) - start, height: size.height - 38 },
          said: `${say('until')} ${timeOf('hour', { start: hour, end: hour })}: ${speech.show(sum)}`,
        }
      })
    },
    table: () => [
      [say('until'), what],
      points.map(({ hour, sum }) => [timeOf('hour', { start: hour, end: hour }), sum]),
    ],
  }
}

/**
 * @param {BoardData} data
 * @param {Sums} bars
 * @param {Size} size
 * @returns {View}
 */
function failuresView(data, bars, size) {
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
function tokensView(data, bars, size) {
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
function weekView(data, cells, size) {
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
