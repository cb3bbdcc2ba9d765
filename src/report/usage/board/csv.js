// @ts-check
// The values of a chart as a file: whose they are, exact times, units, and decimals as the log has them.
import { exactTime } from './offsets.js'
import { item } from './sums.js'

/** @import { BoardData } from './data.ts' */
/** @import { Choice, TableCell, View } from './types.ts' */

/** A double has as many digits at least. */
const digits = 15

/**
 * How many digits a number has after its point.
 *
 * @param {number} value
 */
function placesOf(value) {
  const [, fraction = '', exponent = '0'] =
    /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/** @type {WeakMap<BoardData, number>} */
const knownPlaces = new WeakMap()

/**
 * The most places of an amount of the data: a sum of them has no more.
 *
 * @param {BoardData} data
 */
function placesIn(data) {
  const places =
    knownPlaces.get(data) ??
    data.cells.credits.reduce(
      (/** @type {number} */ most, each) => Math.max(most, placesOf(each ?? 0)),
      0,
    )
  knownPlaces.set(data, places)
  return places
}

/**
 * A sum of decimals, without the rest that adding them as doubles leaves.
 *
 * @param {number} value
 * @param {number} places
 */
export function exactText(value, places) {
  const whole = String(Math.trunc(Math.abs(value))).length
  const text = value.toFixed(Math.max(0, Math.min(places, digits - whole)))
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/**
 * @param {TableCell} value
 * @param {number} places
 */
function cellText(value, places) {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'number' ? exactText(value, places) : value
  const safe = typeof value === 'string' && /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * @param {BoardData} data
 * @param {View} view
 */
export function csvOf(data, view) {
  const [[time, ...names] = [], rows] = view.table()
  const { account } = data
  const { times, unit } = view
  const heads = [
    ...(account === null ? [] : ['account']),
    ...(times === undefined
      ? [time]
      : times.some((each) => each.length > 1)
        ? ['start', 'end']
        : ['until']),
    ...names.map((name) => (unit === undefined ? name : `${name} (${unit})`)),
  ]
  const places = unit === undefined ? digits : placesIn(data) + placesOf(view.perCredit ?? 1)
  const lines = rows.map(([first, ...cells], at) => [
    ...(account === null ? [] : [account]),
    ...(times === undefined ? [first] : item(times, at).map((hour) => exactTime(data, hour))),
    ...cells,
  ])
  return [heads, ...lines]
    .map((cells) => `${cells.map((cell) => cellText(cell, places)).join(',')}\r\n`)
    .join('')
}

/**
 * The name of the file: the chart, whose it is, and its period as in `file-name.ts`: the first and the last day, or exact times.
 *
 * @param {BoardData} data
 * @param {View} view
 * @param {Choice} choice
 */
export function csvName({ account, offsets }, view, { from, to }) {
  const owner =
    account === null ? '' : `-${account.replace(/[^\p{L}\p{N}._]+/gu, '-').replace(/^[-.]+/, '')}`
  const isOfDays = from % 24 === 0 && to % 24 === 0
  /** @param {number} hour */
  const time = (hour) => {
    const text = exactTime({ offsets }, hour)
    return isOfDays ? text.slice(0, 10) : text.replace(/:00(?=[+-])|:/g, '')
  }
  return `usage-${view.id}${owner}-${time(from)}-${time(isOfDays ? to - 1 : to)}.csv`
}
