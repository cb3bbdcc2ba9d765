// What the usage page shows of a choice: every chart, card and table. It runs where the page is made and in the browser.
import {
  cumulativeX,
  drawBars,
  drawCumulative,
  drawLegend,
  drawLines,
  drawWeek,
  h,
  legendOf,
  legendOfBars,
  weekCell,
} from './draw.js'
import { clock, speechOf } from './speech.js'
import {
  bucketOf,
  buckets,
  chosen,
  dimensions,
  latencies,
  metrics,
  perBar,
  stacked,
  total,
  week,
} from './sums.js'
import { cardsOf, share, tablesOf, titleOf } from './tables.js'

/** Cumulative use at the end of each of at most 400 buckets. */
function cumulative(data, places, choice) {
  const name = bucketOf(data, choice.from, choice.to)
  const sums = new Map()
  const value = metrics[choice.metric]
  for (const at of places) {
    const start = buckets[name].of(data.cells.hour[at])
    sums.set(start, (sums.get(start) ?? 0) + (value(data, at) ?? 0))
  }
  let sum = 0
  const last = Math.min(choice.to, data.now, data.measuredTo)
  const points = []
  const { of, next } = buckets[name]
  // A request at the end of the measured time counts, too.
  for (let start = of(choice.from); start < last || sums.has(start); start = next(start)) {
    sum += sums.get(start) ?? 0
    points.push({ hour: Math.max(start, Math.min(next(start), last)), sum })
  }
  return points
}

const [column, phone] = [660, 320].map((width) => ({ width, height: 200 }))
/** Sizes of drawings: wide and half. Each is about as wide as its place, so that its words are as large as those around it. */
const sizes = {
  desk: { wide: { width: 1000, height: 250 }, half: { width: 480, height: 190 } },
  middle: { wide: column, half: column },
  paper: { wide: column, half: phone },
  phone: { wide: phone, half: phone },
}

/** All views of a choice. A table is lazy: rows are made only if the reader asks. */
export function viewsOf(data, choice, size = 'desk') {
  const { wide, half } = sizes[size]
  const places = chosen(data, choice)
  const sums = total(data, places)
  const unfiltered = dimensions.every((name) => choice[name] === '')
  const columns = ['requests', 'failed', 'limited', 'input', 'cached', 'output']
  const bars = perBar(data, places, choice, columns)
  const values = Object.fromEntries(
    columns.map((name, at) => [name, bars.sums.map((row) => row[at])]),
  )
  const latency = data.latency === null ? [] : latencies(data, places, choice)
  const isWeek = data.finest === 'hour' && choice.to - choice.from >= 168
  // Of few requests, each hour's median is 0, which shows nothing.
  const hours = isWeek ? week(data, places, choice) : []
  const halves = [
    (box) => failuresView(data, bars, values, box),
    sums.input !== null || sums.output !== null
      ? (box) => tokensView(data, bars, values, box)
      : null,
    isKnown(latency) ? (box) => latencyView(data, bars, latency, box) : null,
    hours.some((median) => median > 0) ? (box) => weekView(data, hours, box) : null,
  ].filter((view) => view !== null)
  // The last of an odd number has its row for itself.
  const isAlone = (at) => at === halves.length - 1 && at % 2 === 0
  const views = [
    useView(data, choice, places, unfiltered, wide),
    cumulativeView(data, choice, places, unfiltered, wide),
    ...halves.map((view, at) => (isAlone(at) ? { ...view(wide), whole: true } : view(half))),
  ]
  return {
    ...{ sums, unfiltered, views },
    cards: cardsOf(data, sums),
    tables: tablesOf(data, places, choice),
  }
}

const withTimes = (data, { bucket, bars }, columns) => {
  const { timeOf } = speechOf(data)
  return bars.map((bar, at) => [timeOf(bucket, bar), ...columns.map((values) => values[at])])
}

function useView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const main = stacked(data, places, choice)
  const nameOf = (name) => speech.nameOf(name, choice.by, main.rest)
  const title = speech.say(main.bucket, { what: titleOf(data, choice.metric) })
  const marks = unfiltered ? marksOf(data, choice, main.bars) : []
  const { series, bars, bucket } = main
  const legend = [
    ...(series.length > 1 ? legendOf(nameOf, series) : []),
    ...legendOfBars(speech, bars),
  ]
  return {
    ...{ id: 'use', wide: true, title, bars, bucket, marks, speech },
    tree: drawBars(
      speech,
      `${title}, ${speech.say('by')} ${speech.say(choice.by)}`,
      { ...main, marks },
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
              marks.map(({ text, from, to }) =>
                h('li', { 'data-from': from, 'data-to': to }, text),
              ),
            ),
          ),
    describe: (at) =>
      series
        .filter(({ values }) => values[at] !== null)
        .map(({ name, values }) => [nameOf(name), speech.show(values[at])]),
    table: () => [
      [speech.say('time'), ...series.map(({ name }) => nameOf(name))],
      withTimes(
        data,
        main,
        series.map(({ values }) => values),
      ),
    ],
  }
}

/** The most marks over a chart: the greatest. */
const mostMarks = 3

/** Unusual hours within the choice, the greatest first, each with its bar and its day. */
function marksOf(data, { from, to }, bars) {
  return data.marks
    .filter(({ hour }) => hour >= from && hour < to)
    .slice(0, mostMarks)
    .map(({ hour, text }, at) => ({
      ...{ rank: at + 1, text, from: Math.max(data.from, Math.floor(hour / 24) * 24) },
      to: Math.min(data.to, Math.floor(hour / 24) * 24 + 24),
      bar: bars.findIndex(({ start, end }) => start <= hour && hour < end),
    }))
}

function cumulativeView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const { say, timeOf } = speech
  const what = titleOf(data, choice.metric)
  const isWhole = choice.metric === 'credits' && unfiltered && choice.to === data.to
  const outlook = isWhole ? data.outlook : null
  const points = cumulative(data, places, choice)
  return {
    ...{ id: 'cumulative', wide: true, speech },
    title: say(outlook === null ? 'sum' : 'held', { what }),
    note: outlook === null ? null : say('outlook'),
    tree: drawCumulative(speech, say('sum', { what }), choice, points, outlook, size),
    stops: () => {
      const { x } = cumulativeX(choice, outlook, size)
      return points.map(({ hour, sum }, at) => {
        const start = x(points[at - 1]?.hour ?? choice.from)
        return {
          ...{ x: start, y: 14, width: x(hour) - start, height: size.height - 38 },
          said: `${say('until')} ${timeOf('hour', { start: hour })}: ${speech.show(sum)}`,
        }
      })
    },
    table: () => [
      [say('until'), what],
      points.map(({ hour, sum }) => [timeOf('hour', { start: hour }), sum]),
    ],
  }
}

function failuresView(data, bars, { requests, failed, limited }, size) {
  const speech = speechOf(data)
  const { say, show } = speech
  const shares = (some) => requests.map((n, at) => (n > 0 ? share(some[at], n) : null))
  const title = say(bars.bucket, { what: say('failures') })
  const heads = [say('requestsHead'), say('failedHead'), say('limited')]
  return {
    ...{ id: 'failures', title, bars: bars.bars, bucket: bars.bucket },
    tree: drawLines(
      speech,
      title,
      bars,
      [
        { kind: 's4', values: shares(failed) },
        { kind: 's2 b-dotted', values: shares(limited) },
      ],
      size,
    ),
    describe: (at) =>
      [requests, failed, limited].map((values, place) => [heads[place], show(values[at])]),
    legend: drawLegend([
      [say('failuresAll'), 's4'],
      [say('limits'), 's2'],
    ]),
    table: () => [[say('time'), ...heads], withTimes(data, bars, [requests, failed, limited])],
  }
}

const minus = (a, b) => a.map((value, at) => (value === null ? null : value - (b[at] ?? 0)))

function tokensView(data, bars, { input, cached, output }, size) {
  const speech = speechOf(data)
  const { say, show } = speech
  const title = say(bars.bucket, { what: say('kinds') })
  const names = [say('input'), say('cached'), say('output')]
  const columns = [minus(input, cached), cached, output]
  const classes = ['s1', 's6', 's5']
  return {
    ...{ id: 'tokens', title, bars: bars.bars, bucket: bars.bucket },
    tree: drawBars(
      speech,
      title,
      { ...bars, series: columns.map((values, at) => ({ name: names[at], values })) },
      { ...size, classes },
    ),
    describe: (at) => columns.map((values, place) => [names[place], show(values[at])]),
    legend: drawLegend(names.map((name, at) => [name, classes[at]])),
    table: () => [[say('time'), ...names], withTimes(data, bars, columns)],
  }
}

const isKnown = (lines) => lines.some(({ values }) => values.some((value) => value !== null))

/** @param percentiles p50, then p95 */
function latencyView(data, bars, percentiles, size) {
  const speech = speechOf(data)
  const { say, show } = speech
  const title = say(bars.bucket, { what: say('latency') })
  const names = percentiles.map(({ name }) => name)
  const columns = percentiles.map(({ values }) => values)
  return {
    ...{ id: 'latency', title, bars: bars.bars, bucket: bars.bucket, note: say('latencyNote') },
    tree: drawLines(
      speech,
      title,
      bars,
      [
        { kind: 's1', values: columns[0] },
        { kind: 's3 b-dotted', values: columns[1] },
      ],
      size,
    ),
    describe: (at) => columns.map((values, place) => [names[place], show(values[at])]),
    legend: drawLegend([
      [names[0], 's1'],
      [names[1], 's3'],
    ]),
    table: () => [[say('time'), ...names], withTimes(data, bars, columns)],
  }
}

function weekView(data, cells, size) {
  const speech = speechOf(data)
  const title = speech.say('busy')
  return {
    ...{ id: 'week', title },
    tree: drawWeek(speech, title, cells, size),
    rows: 24,
    stops: () =>
      cells.map((value, at) => ({
        ...weekCell(at, size),
        said: `${speech.weekdays[Math.floor(at / 24)]} ${clock(at % 24)}: ${value === null ? speech.say('unmeasured') : speech.show(value)}`,
      })),
    table: () => [
      [speech.say('time'), ...speech.weekdays],
      Array.from({ length: 24 }, (_, hour) => [
        `${String(hour).padStart(2, '0')}:00`,
        ...speech.weekdays.map((_, day) => cells[day * 24 + hour]),
      ]),
    ],
  }
}
