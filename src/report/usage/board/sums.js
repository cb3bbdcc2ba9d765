// Sums the cells of a usage page for what the reader chose. It runs where the page is made and in the reader's browser,
// so that both show the same. The data are columns: cell `at` is `hour[at]`, `model[at]`, `requests[at]` and so on.

/** Local hours since 1 January 1970 of a date as text. */
export const hourOf = (date) => Date.parse(`${date}T00:00:00Z`) / 3_600_000

export const dateOf = (hour) => new Date(hour * 3_600_000).toISOString().slice(0, 10)

const monthStart = (year, month) => Date.UTC(year, month, 1) / 3_600_000

/** Buckets, from narrow to wide: the start of that with an hour, and of the next one. */
export const buckets = {
  hour: { of: (hour) => hour, next: (start) => start + 1 },
  day: { of: (hour) => Math.floor(hour / 24) * 24, next: (start) => start + 24 },
  // 1970 began on a Thursday; weeks begin on Monday.
  week: {
    of: (hour) => Math.floor((hour / 24 + 3) / 7) * 168 - 72,
    next: (start) => start + 168,
  },
  month: {
    of: (hour) => {
      const day = new Date(hour * 3_600_000)
      return monthStart(day.getUTCFullYear(), day.getUTCMonth())
    },
    next: (start) => {
      const day = new Date(start * 3_600_000)
      return monthStart(day.getUTCFullYear(), day.getUTCMonth() + 1)
    },
  },
}

const names = ['hour', 'day', 'week', 'month']

/** The most bars of a chart. */
export const mostBars = 400

/** The bucket of a range: hours for up to two days, then the narrowest with at most 400 bars. */
export function bucketOf(data, from, to) {
  const hours = { hour: 1, day: 24, week: 168, month: 730 }
  const narrowest = to - from <= 48 ? 'hour' : 'day'
  const from0 = Math.max(names.indexOf(narrowest), names.indexOf(data.finest))
  return names.slice(from0).find((name) => (to - from) / hours[name] <= mostBars) ?? 'month'
}

/** What a bar can show. */
export const metrics = {
  credits: (data, at) => data.cells.credits[at],
  requests: (data, at) => data.cells.requests[at],
  tokens: (data, at) =>
    data.cells.input[at] === null && data.cells.output[at] === null
      ? null
      : (data.cells.input[at] ?? 0) + (data.cells.output[at] ?? 0),
  money: (data, at) =>
    data.cells.credits[at] === null ? null : data.cells.credits[at] * data.money.perCredit,
}

export const dimensions = ['model', 'key', 'endpoint']

/** The places of the cells that the filters leave. The first cell of the data may begin before them: they begin within it. */
export function chosen(data, { from, to, ...filters }) {
  const first = from <= data.from ? Number.NEGATIVE_INFINITY : from
  const wanted = dimensions.flatMap((name) =>
    filters[name] === '' ? [] : [[data.cells[name], data.names[name].indexOf(filters[name])]],
  )
  const places = []
  for (let at = 0; at < data.cells.hour.length; at++) {
    const hour = data.cells.hour[at]
    if (hour < first || hour >= to) continue
    if (wanted.every(([column, place]) => column[at] === place)) places.push(at)
  }
  return places
}

const plus = (sum, value) => (value === null ? sum : (sum ?? 0) + value)

/** All sums of some cells; null is "not measured". */
export function total(data, places) {
  const sums = { credits: null, input: null, cached: null, output: null }
  const counts = { requests: 0, failed: 0, limited: 0, unknown: 0 }
  for (const at of places) {
    for (const name of Object.keys(sums)) sums[name] = plus(sums[name], data.cells[name][at])
    for (const name of Object.keys(counts)) counts[name] += data.cells[name][at]
  }
  return { ...counts, ...sums }
}

/** Cells by a column of names, greatest first. */
export function groups(data, places, by, metric) {
  const found = new Map()
  for (const at of places) {
    const place = data.cells[by][at]
    if (!found.has(place)) found.set(place, [])
    found.get(place).push(at)
  }
  const value = metrics[metric]
  const sum = (some) => some.reduce((all, at) => all + (value(data, at) ?? 0), 0)
  return [...found]
    .map(([place, some]) => ({ name: data.names[by][place], places: some, sum: sum(some) }))
    .sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1))
}

/** The bars of a range: start and end in local hours, whether they are measured, and whether they are over. */
export function barsOf(data, from, to) {
  const name = bucketOf(data, from, to)
  const { of, next } = buckets[name]
  const bars = []
  for (let start = of(from); start < to; start = next(start)) {
    const end = next(start)
    bars.push({
      start,
      end,
      measured: end > data.measuredFrom && start < data.measuredTo,
      open:
        end > data.now ||
        end > data.measuredTo ||
        start < Math.floor(data.measuredFrom) ||
        data.partial.some((cut) => cut.from < end && cut.to > start),
    })
  }
  return { name, bars, of }
}

/** A stack of values for each bar. The seven greatest names have a series, the rest is `(other)`. */
export function stacked(data, places, { from, to, by, metric }) {
  const { name, bars, of } = barsOf(data, from, to)
  const placeOf = new Map(bars.map(({ start }, at) => [start, at]))
  const all = groups(data, places, by, metric)
  const top = all.filter(({ name: each }) => each !== '(other)').slice(0, 7)
  const rest = all.filter((each) => !top.includes(each)).flatMap((each) => each.places)
  const series = [...top, ...(rest.length > 0 ? [{ name: '(other)', places: rest }] : [])]
  const value = metrics[metric]
  return {
    bucket: name,
    bars,
    /** How many names of the data have no series of their own. */
    rest: all.filter(({ name: each }) => each !== '(other)').length - top.length,
    series: series.map((each) => {
      const values = bars.map(() => null)
      for (const at of each.places) {
        const bar = placeOf.get(of(data.cells.hour[at]))
        if (bar !== undefined) values[bar] = plus(values[bar], value(data, at))
      }
      return { name: each.name, values }
    }),
  }
}

/** Counts of cells for each bar. */
export function perBar(data, places, { from, to }, columns) {
  const { name, bars, of } = barsOf(data, from, to)
  const placeOf = new Map(bars.map(({ start }, at) => [start, at]))
  const sums = bars.map(() => columns.map(() => null))
  for (const at of places) {
    const bar = sums[placeOf.get(of(data.cells.hour[at]))]
    if (bar === undefined) continue
    columns.forEach((column, place) => {
      bar[place] = plus(bar[place], data.cells[column][at])
    })
  }
  return { bucket: name, bars, sums }
}

/** Latencies are counted in steps of a tenth: step `n` reaches from 1.1^n to 1.1^(n + 1) milliseconds. */
export const latencyStep = 1.1

/** Percentiles of the latency of each bar, in milliseconds; null if fewer successes report one than it needs. */
export function latencies(data, places, { from, to }) {
  const { bars, of } = barsOf(data, from, to)
  const placeOf = new Map(bars.map(({ start }, at) => [start, at]))
  const wanted = new Set(places)
  const counts = bars.map(() => new Map())
  const { cell, step, count, needs } = data.latency
  for (let at = 0; at < cell.length; at++) {
    if (!wanted.has(cell[at])) continue
    const bar = counts[placeOf.get(of(data.cells.hour[cell[at]]))]
    bar?.set(step[at], (bar.get(step[at]) ?? 0) + count[at])
  }
  const sorted = counts.map((bar) => [...bar].sort(([a], [b]) => a - b))
  return needs.map(({ percent, samples }) => ({
    name: `p${percent}`,
    values: sorted.map((bar) => percentileOf(bar, percent / 100, samples)),
  }))
}

function percentileOf(steps, share, needed) {
  const all = steps.reduce((sum, [, count]) => sum + count, 0)
  if (all < needed) return null
  let passed = 0
  for (const [step, count] of steps) {
    passed += count
    if (passed >= share * all) return Number((latencyStep ** (step + 0.5)).toPrecision(3))
  }
  return null
}

/** The median of each hour of the week over its measured hours, among them those without a request. Monday is 0. */
export function week(data, places, { from, to }) {
  const first = Math.max(from, Math.ceil(data.measuredFrom))
  const last = Math.min(to, Math.floor(data.measuredTo), Math.floor(data.now))
  const byHour = new Map()
  for (const at of places) {
    const hour = data.cells.hour[at]
    byHour.set(hour, (byHour.get(hour) ?? 0) + data.cells.requests[at])
  }
  const cells = Array.from({ length: 168 }, () => [])
  for (let hour = first; hour < last; hour++) cells[(hour + 72) % 168].push(byHour.get(hour) ?? 0)
  return cells.map((values) => {
    if (values.length === 0) return null
    values.sort((a, b) => a - b)
    const middle = values.length >> 1
    return values.length % 2 === 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
  })
}
