// @ts-check
// Sums the cells of a usage page for what the reader chose. It runs where the page is made and in the reader's browser,
// so that both show the same. The data are columns: cell `at` is `hour[at]`, `model[at]`, `requests[at]` and so on.
import { endOfHour } from './offsets.js'
/** @import { Offsets } from './offsets.js' */
/** @import { Dimension, Width } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { Bar, Bars, Choice, Metric, Series, Span, Sums } from './types.ts' */

/**
 * What a list has at a place that it has.
 *
 * @template T
 * @param {readonly T[]} list
 * @param {number} at
 */
export const item = (list, at) => /** @type {T} */ (list[at])

/**
 * Local hours since 1 January 1970 of a date as text.
 *
 * @param {string} date
 */
export const hourOf = (date) => Date.parse(`${date}T00:00:00Z`) / 3_600_000

/**
 * Date and local time of an hour, which may begin at a quarter: `2026-11-01T05:30`.
 *
 * @param {number} hour
 */
export const clockOf = (hour) => new Date(hour * 3_600_000).toISOString().slice(0, 16)

/** @param {number} hour */
export const dateOf = (hour) => clockOf(hour).slice(0, 10)

/** @type {(year: number, month: number) => number} */
const monthStart = (year, month) => Date.UTC(year, month, 1) / 3_600_000

/**
 * Buckets, from narrow to wide: the start of that with an hour, and of the next one.
 *
 * @type {Readonly<Record<Width, { readonly of: (hour: number) => number, readonly next: (hour: number, data: Offsets) => number }>>}
 */
export const buckets = {
  hour: { of: (hour) => hour, next: (start, data) => endOfHour(data, start) },
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

/** @type {readonly Width[]} */
const names = ['hour', 'day', 'week', 'month']

/** The most bars of a chart. */
export const mostBars = 400

/**
 * The bucket of a range: hours for up to two days, then the narrowest with at most 400 bars.
 *
 * @param {BoardData} data
 * @param {number} from
 * @param {number} to
 */
export function bucketOf(data, from, to) {
  const hours = { hour: 1, day: 24, week: 168, month: 730 }
  const narrowest = to - from <= 48 ? 'hour' : 'day'
  const from0 = Math.max(names.indexOf(narrowest), names.indexOf(data.finest))
  return names.slice(from0).find((name) => (to - from) / hours[name] <= mostBars) ?? 'month'
}

/**
 * What a bar can show, of a cell.
 *
 * @type {Readonly<Record<Metric, (data: BoardData, at: number) => number | null>>}
 */
export const metrics = {
  credits: (data, at) => item(data.cells.credits, at),
  requests: (data, at) => item(data.cells.requests, at),
  tokens: ({ cells }, at) => plus(item(cells.input, at), item(cells.output, at)),
  money: ({ cells, money }, at) => {
    const credits = item(cells.credits, at)
    return credits === null || money === null ? null : credits * money.perCredit
  },
}

/** @type {readonly Dimension[]} */
export const dimensions = ['model', 'key', 'endpoint']

/**
 * The first hour of a choice: of a page that begins within an hour, that one too.
 *
 * @param {BoardData} data
 * @param {number} from
 */
export const firstHour = (data, from) => (from <= data.from ? Number.NEGATIVE_INFINITY : from)

/**
 * The places of the cells that the filters leave. The first cell of the data may begin before them: they begin within it.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 */
export function chosen(data, { from, to, ...filters }) {
  const first = firstHour(data, from)
  const wanted = dimensions.flatMap((name) =>
    filters[name] === ''
      ? []
      : { column: data.cells[name], place: data.names[name].indexOf(filters[name]) },
  )
  return [...data.cells.hour.keys()].filter((at) => {
    const hour = item(data.cells.hour, at)
    return hour >= first && hour < to && wanted.every(({ column, place }) => column[at] === place)
  })
}

/** @type {(sum: number | null, value: number | null) => number | null} */
const plus = (sum, value) => (value === null ? sum : (sum ?? 0) + value)

/**
 * All sums of some cells; null is "not measured".
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @returns {Sums}
 */
export function total({ cells }, places) {
  /** @param {readonly number[]} column */
  const count = (column) => places.reduce((sum, at) => sum + item(column, at), 0)
  /** @param {readonly (number | null)[]} column */
  const sum = (column) => {
    /** @type {number | null} */
    let all = null
    for (const at of places) all = plus(all, item(column, at))
    return all
  }
  return {
    ...{ requests: sum(cells.requests), failed: count(cells.failed) },
    ...{ limited: count(cells.limited), unknown: count(cells.unknown) },
    ...{ credits: sum(cells.credits), input: sum(cells.input) },
    ...{ cached: sum(cells.cached), output: sum(cells.output) },
  }
}

/**
 * Cells by a column of names, greatest first.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Dimension} by
 * @param {Metric} metric
 */
export function groups(data, places, by, metric) {
  /** @type {Map<number, number[]>} */
  const found = new Map()
  for (const at of places) {
    const place = item(data.cells[by], at)
    const some = found.get(place)
    if (some === undefined) found.set(place, [at])
    else some.push(at)
  }
  const value = metrics[metric]
  /** @param {readonly number[]} some */
  const sum = (some) => some.reduce((all, at) => all + (value(data, at) ?? 0), 0)
  return (
    [...found]
      .map(([place, some]) => ({ name: item(data.names[by], place), places: some, sum: sum(some) }))
      // What has no requests and nothing of this unit, as refunds in another, is none of it.
      .filter((each) => each.sum || each.places.some((at) => data.cells.requests[at]))
      .sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1))
  )
}

/**
 * The bars of a range: start and end in local hours, whether they are measured, and whether they are over.
 *
 * @param {BoardData} data
 * @param {number} from
 * @param {number} to
 */
export function barsOf(data, from, to) {
  const name = bucketOf(data, from, to)
  const { of, next } = buckets[name]
  /** @type {Bar[]} */
  const bars = []
  for (let start = of(from); start < to; start = next(start, data)) {
    const end = next(start, data)
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
  const placeOf = new Map(bars.map(({ start }, at) => [start, at]))
  /**
   * The place of the bar with a cell; -1 is none.
   *
   * @param {number} at
   */
  const barWith = (at) => placeOf.get(of(item(data.cells.hour, at))) ?? -1
  return { name, bars, barWith }
}

/**
 * The sums of a value of cells for each bar; null is "not measured".
 *
 * @param {Pick<ReturnType<typeof barsOf>, 'bars' | 'barWith'>} range
 * @param {readonly number[]} places
 * @param {(at: number) => number | null} value
 */
function summed({ bars, barWith }, places, value) {
  /** @type {(number | null)[]} */
  const sums = bars.map(() => null)
  for (const at of places) {
    const bar = barWith(at)
    if (bar >= 0) sums[bar] = plus(item(sums, bar), value(at))
  }
  return sums
}

/**
 * A stack of values for each bar. The seven greatest names have a series, the rest is `(other)`.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Choice} choice
 */
export function stacked(data, places, { from, to, by, metric }) {
  const range = barsOf(data, from, to)
  const all = groups(data, places, by, metric)
  const top = all.filter(({ name }) => name !== '(other)').slice(0, 7)
  const rest = all.filter((each) => !top.includes(each)).flatMap((each) => each.places)
  const series = [...top, ...(rest.length > 0 ? [{ name: '(other)', places: rest }] : [])]
  const value = metrics[metric]
  return {
    bucket: range.name,
    bars: range.bars,
    /** How many names of the data have no series of their own. */
    rest: all.filter(({ name }) => name !== '(other)').length - top.length,
    series: series.map((each) => ({
      name: each.name,
      values: summed(range, each.places, (at) => value(data, at)),
    })),
  }
}

/**
 * Sums of cells for each bar.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Span} span
 */
export function perBar(data, places, { from, to }) {
  const range = barsOf(data, from, to)
  /** @param {readonly (number | null)[]} column */
  const sums = (column) => summed(range, places, (at) => item(column, at))
  const { requests, failed, limited, input, cached, output } = data.cells
  return {
    ...{ bucket: range.name, bars: range.bars },
    ...{ requests: sums(requests), failed: sums(failed), limited: sums(limited) },
    ...{ input: sums(input), cached: sums(cached), output: sums(output) },
  }
}

/**
 * The shares that values have of their sum, in thousandths that add up to it: the greatest rests are rounded up.
 *
 * @param {readonly number[]} values what is below 0 has no share
 * @param {number} [whole] their sum, if they are not all
 * @returns {readonly number[]}
 */
export function sharesOf(values, whole = values.reduce((sum, each) => sum + Math.max(0, each), 0)) {
  const exact = values.map((each) => (whole > 0 ? (1000 * Math.max(0, each)) / whole : 0))
  const shares = exact.map(Math.floor)
  const missing =
    Math.round(exact.reduce((sum, each) => sum + each, 0)) -
    shares.reduce((sum, each) => sum + each, 0)
  // The greatest stands beside its amount: it is rounded up where a reader does it.
  const rest = (/** @type {number} */ at) => {
    const value = item(exact, at)
    const cut = value - item(shares, at)
    return cut >= 0.5 && exact.every((each) => each <= value) ? 2 : cut
  }
  const places = [...shares.keys()].toSorted((a, b) => rest(b) - rest(a))
  for (const at of places.slice(0, Math.max(0, missing))) shares[at] = item(shares, at) + 1
  return shares.map((each) => each / 1000)
}

/**
 * The median of each hour of the week over its measured whole hours, among them those without a request. Monday is 0.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Span} span
 */
export function week(data, places, { from, to }) {
  const first = Math.ceil(Math.max(from, data.measuredFrom))
  const last = Math.floor(Math.min(to, data.measuredTo, data.now))
  /** @type {Map<number, number>} */
  const byHour = new Map()
  for (const at of places) {
    const hour = item(data.cells.hour, at)
    byHour.set(hour, (byHour.get(hour) ?? 0) + (item(data.cells.requests, at) ?? 0))
  }
  /** @type {number[][]} */
  const cells = Array.from({ length: 168 }, () => [])
  for (let hour = first; hour < last; hour++)
    item(cells, (hour + 72) % 168).push(byHour.get(hour) ?? 0)
  return cells.map((values) => {
    if (values.length === 0) return null
    values.sort((a, b) => a - b)
    const middle = values.length >> 1
    const upper = item(values, middle)
    return values.length % 2 === 1 ? upper : (item(values, middle - 1) + upper) / 2
  })
}
