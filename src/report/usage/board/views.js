// What the usage page shows of a choice: every chart, card and table. It runs where the page is made and in the browser.
import {
  drawBars,
  drawCumulative,
  drawLegend,
  drawLines,
  drawTable,
  drawWeek,
  legendOf,
  show,
  timeOf,
} from './draw.js'
import {
  bucketOf,
  buckets,
  chosen,
  dateOf,
  dimensions,
  groups,
  hourOf,
  metrics,
  perBar,
  stacked,
  total,
  week,
} from './sums.js'

const titles = { credits: 'used', requests: 'Requests', tokens: 'Tokens', money: 'Cost (USD)' }
const per = { hour: 'by hour', day: 'by day', week: 'by week', month: 'by month' }

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1)

/** The metric's name in a title. */
export const titleOf = (data, metric) =>
  metric === 'credits' ? `${capital(data.unit)} used` : titles[metric]

/** The choice before the reader makes one. */
export const initial = (data) => ({
  ...{ from: data.from, to: data.to, model: '', key: '', endpoint: '' },
  ...{ by: data.by, metric: data.metrics[0] },
})

/** Reads a choice from the fragment of the address; what is not known there is left out. */
export function choiceOf(data, fragment) {
  const said = new URLSearchParams(fragment)
  const choice = initial(data)
  for (const name of dimensions)
    if (data.names[name].includes(said.get(name))) choice[name] = said.get(name)
  if (data.metrics.includes(said.get('metric'))) choice.metric = said.get('metric')
  if (dimensions.includes(said.get('by'))) choice.by = said.get('by')
  const hour = (text, otherwise) => {
    const found = /^\d{4}-\d{2}-\d{2}(T\d{2})?$/.test(text ?? '')
      ? hourOf(text.slice(0, 10)) + Number(text.slice(11) || 0)
      : Number.NaN
    return Number.isFinite(found) ? Math.min(Math.max(found, data.from), data.to) : otherwise
  }
  const [from, to] = [hour(said.get('from'), data.from), hour(said.get('to'), data.to)]
  return from < to ? { ...choice, from, to } : choice
}

const timeText = (hour) =>
  `${dateOf(hour)}${hour % 24 === 0 ? '' : `T${String(hour % 24).padStart(2, '0')}`}`

/** The fragment of a choice: only what differs from the first. */
export function fragmentOf(data, choice) {
  const first = initial(data)
  const said = new URLSearchParams()
  for (const [name, value] of Object.entries(choice)) {
    if (value !== first[name])
      said.set(name, name === 'from' || name === 'to' ? timeText(value) : value)
  }
  return said.toString()
}

const share = (part, whole) => (whole === 0 ? null : (100 * part) / whole)

const tokenKinds = [
  ['input', 's1'],
  ['cached input', 's6'],
  ['output', 's4'],
]

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
  for (let start = buckets[name].of(choice.from); start < last; start = buckets[name].next(start)) {
    sum += sums.get(start) ?? 0
    points.push({ hour: Math.min(buckets[name].next(start), last), sum })
  }
  return points
}

/** Sizes of drawings: wide and half. */
const sizes = {
  desk: { wide: { width: 1000, height: 250 }, half: { width: 480, height: 190 } },
  phone: { wide: { width: 320, height: 210 }, half: { width: 320, height: 180 } },
}

/** All views of a choice. A table is lazy: rows are made only if the reader asks. */
export function viewsOf(data, choice, size = 'desk') {
  const { wide, half } = sizes[size]
  const places = chosen(data, choice)
  const sums = total(data, places)
  const unfiltered = dimensions.every((name) => choice[name] === '')
  const name = titleOf(data, choice.metric)
  const main = stacked(data, places, choice)
  const bars = perBar(data, places, choice, [
    'requests',
    'failed',
    'limited',
    'input',
    'cached',
    'output',
  ])
  const column = (at) => bars.sums.map((row) => row[at])
  const [requests, failed, limited, input, cached, output] = [0, 1, 2, 3, 4, 5].map(column)
  const times = () => main.bars.map((bar) => timeOf(main.bucket, bar))
  const withTimes = (columns) =>
    times().map((time, at) => [time, ...columns.map((values) => values[at])])
  const minus = (a, b) => a.map((value, at) => (value === null ? null : value - (b[at] ?? 0)))
  const fresh = minus(input, cached)
  const outlook =
    choice.metric === 'credits' && unfiltered && choice.to === data.to ? data.outlook : null
  const points = cumulative(data, places, choice)
  const views = [
    {
      ...{
        id: 'use',
        wide: true,
        title: `${name} ${per[main.bucket]}`,
        bars: main.bars,
        bucket: main.bucket,
      },
      tree: drawBars(`${name} ${per[main.bucket]}, by ${choice.by}`, main, wide),
      legend: main.series.length > 1 ? drawLegend(legendOf(main.series)) : null,
      describe: (at) =>
        main.series
          .filter(({ values }) => values[at] !== null)
          .map(({ name: each, values }) => [each, show(values[at])]),
      table: () => [
        ['time', ...main.series.map((each) => each.name)],
        withTimes(main.series.map(({ values }) => values)),
      ],
    },
    {
      ...{ id: 'cumulative', wide: true },
      title: outlook === null ? `${name}, added up` : `${name}, added up, against what is held`,
      note: outlook === null ? null : `${data.words.outlook}`,
      tree: drawCumulative(`${name}, added up over time`, choice, points, outlook, wide),
      table: () => [
        ['until', name],
        points.map(({ hour, sum }) => [timeOf('hour', { start: hour }), sum]),
      ],
    },
    {
      ...{ id: 'failures', title: `Failed requests ${per[main.bucket]} (%)` },
      tree: drawLines(
        'Share of requests that failed',
        bars,
        [
          { kind: 's4', values: requests.map((n, at) => (n > 0 ? share(failed[at], n) : null)) },
          { kind: 's2', values: requests.map((n, at) => (n > 0 ? share(limited[at], n) : null)) },
        ],
        half,
      ),
      bars: bars.bars,
      bucket: bars.bucket,
      describe: (at) => [
        ['requests', show(requests[at])],
        ['failed', show(failed[at])],
        ['of them 429', show(limited[at])],
      ],
      legend: drawLegend([
        ['all failures', 's4'],
        ['429', 's2'],
      ]),
      table: () => [
        ['time', 'requests', 'failed', 'of them 429'],
        withTimes([requests, failed, limited]),
      ],
    },
    sums.input !== null || sums.output !== null
      ? {
          ...{
            id: 'tokens',
            title: `Tokens by kind ${per[main.bucket]}`,
            bars: bars.bars,
            bucket: bars.bucket,
          },
          tree: drawBars(
            'Tokens by kind',
            {
              ...bars,
              series: [fresh, cached, output].map((values, at) => ({
                name: tokenKinds[at][0],
                values,
              })),
            },
            { ...half, classes: tokenKinds.map(([, kind]) => kind) },
          ),
          describe: (at) => [
            ['input', show(fresh[at])],
            ['cached input', show(cached[at])],
            ['output', show(output[at])],
          ],
          legend: drawLegend(tokenKinds),
          table: () => [
            ['time', 'input', 'cached input', 'output'],
            withTimes([fresh, cached, output]),
          ],
        }
      : null,
    data.finest === 'hour' && choice.to - choice.from >= 168
      ? weekView(week(data, places, choice), half)
      : null,
  ].filter((view) => view !== null)
  return {
    sums,
    unfiltered,
    views,
    cards: cardsOf(data, sums),
    tables: tablesOf(data, places, choice),
  }
}

function weekView(cells, half) {
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
  return {
    ...{ id: 'week', title: 'The week by hour: median requests' },
    tree: drawWeek('Median requests of each hour of the week', cells, half),
    table: () => [
      ['hour', ...days],
      Array.from({ length: 24 }, (_, hour) => [
        `${String(hour).padStart(2, '0')}:00`,
        ...days.map((_, day) => cells[day * 24 + hour]),
      ]),
    ],
  }
}

function cardsOf(data, { requests, failed, unknown, credits, input, output }) {
  const known = unknown > 0 ? `${show(unknown)} requests of unknown cost` : ''
  const tokens = input === null && output === null ? null : (input ?? 0) + (output ?? 0)
  return [
    ...(data.metrics.includes('credits')
      ? [[`${capital(data.unit)} used`, show(credits), known]]
      : []),
    ...(data.metrics.includes('money')
      ? [['Cost (USD)', credits === null ? '–' : (credits * data.creditUsd).toFixed(2), '']]
      : []),
    ['Requests', show(requests), ''],
    [
      'Tokens',
      show(tokens),
      tokens === null ? 'not measured' : `${show(input)} in, ${show(output)} out`,
    ],
    ['Failed', requests === 0 ? '–' : `${show(share(failed, requests))} %`, show(failed)],
  ]
}

/** The most rows of a table of names. */
const mostRows = 30

function tablesOf(data, places, { metric }) {
  return dimensions
    .map((by) => ({ by, all: groups(data, places, by, metric) }))
    .filter(({ by, all }) => all.length > 1 || (data.names[by].length > 1 && all.length > 0))
    .map(({ by, all }) => {
      const hasCredits = data.metrics.includes('credits')
      const rows = all.slice(0, mostRows).map(({ name, places: some }) => {
        const sums = total(data, some)
        return [
          name,
          ...(hasCredits ? [sums.credits] : []),
          sums.requests,
          sums.input,
          sums.output,
          sums.failed,
        ]
      })
      const title = `By ${by}${all.length > mostRows ? `: ${mostRows} of ${all.length}` : ''}`
      return {
        by,
        title,
        tree: drawTable(
          title,
          [
            by,
            ...(hasCredits ? [data.unit] : []),
            'requests',
            'input tokens',
            'output tokens',
            'failed',
          ],
          rows,
        ),
      }
    })
}

/** The requests of an hour, if the page holds them. */
export function requestsOf(data, choice) {
  if (data.requests === null || choice.to - choice.from !== 1) return null
  const { hour, clock, model, key, endpoint, status, input, output, credits } = data.requests
  const wanted = (column, name) =>
    choice[name] === '' || column === data.names[name].indexOf(choice[name])
  return hour.flatMap((each, at) =>
    each === choice.from &&
    wanted(model[at], 'model') &&
    wanted(key[at], 'key') &&
    wanted(endpoint[at], 'endpoint')
      ? [
          [
            clock[at],
            data.names.model[model[at]],
            data.names.key[key[at]],
            data.names.endpoint[endpoint[at]],
            status[at],
            input[at],
            output[at],
            credits[at],
          ],
        ]
      : [],
  )
}
