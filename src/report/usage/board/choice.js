// @ts-check
// What a reader chose: a period, filters, what bars show, and by which names they are split. It stands in the address.
import { exactTime, isSecond } from './offsets.js'
import { clockOf, dimensions, item } from './sums.js'

/** @import { Offsets } from './offsets.js' */
/** @import { Dimension } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { Choice } from './types.ts' */

/**
 * The choice before the reader makes one.
 *
 * @type {(data: BoardData) => Choice}
 */
export const initial = (data) => ({
  ...{ from: data.from, to: data.to, model: '', key: '', endpoint: '' },
  ...{ by: data.by, metric: item(data.metrics, 0) },
})

/**
 * What the address calls a dimension: a page by account has accounts in the place of keys.
 *
 * @type {(data: BoardData, name: Dimension) => string}
 */
const addressed = (data, name) => (name === 'key' ? data.keyIs : name)

/**
 * Reads a choice from the fragment of the address; what is not known there is left out.
 *
 * @param {BoardData} data
 * @param {string} fragment
 * @returns {Choice}
 */
export function choiceOf(data, fragment) {
  const said = new URLSearchParams(fragment)
  const first = initial(data)
  /** @param {Dimension} name */
  const filter = (name) => {
    const asked = said.get(addressed(data, name))
    return data.names[name].find((each) => each === asked) ?? ''
  }
  /** @type {(text: string | null, otherwise: number) => number} */
  const hour = (text, otherwise) => {
    const found = text === null ? null : timeOf(data, text)
    return found === null ? otherwise : Math.min(Math.max(found, data.from), data.to)
  }
  const [from, to] = [hour(said.get('from'), data.from), hour(said.get('to'), data.to)]
  return {
    ...(from < to ? { from, to } : { from: first.from, to: first.to }),
    ...{ model: filter('model'), key: filter('key'), endpoint: filter('endpoint') },
    by: dimensions.find((name) => addressed(data, name) === said.get('by')) ?? first.by,
    metric: data.metrics.find((metric) => metric === said.get('metric')) ?? first.metric,
  }
}

/**
 * A local time as addresses have it, which may be at a quarter: `2026-11-01T05:30`, or the day that begins with it.
 *
 * The second of two equal hours has its offset.
 *
 * @param {Offsets} data
 * @param {number} hour
 */
export const timeText = (data, hour) =>
  isSecond(hour)
    ? exactTime(data, hour).replace(/:00(?=[+-])/, '')
    : clockOf(hour).replace(/T00:00$/, '')

/**
 * The hour of such a text, which may lack the minutes; null of any other, such as one with a day that its month has not.
 *
 * @param {Offsets} data
 * @param {string} text
 */
function timeOf(data, text) {
  const second = data.offsets.find(
    (each) => isSecond(each.hour) && timeText(data, each.hour) === text,
  )
  if (second !== undefined) return second.hour
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}(:\d{2})?)?$/.test(text)) return null
  const whole = text + '2026-11-01T00:00'.slice(text.length)
  const hour = Date.parse(`${whole}Z`) / 3_600_000
  return Number.isFinite(hour) && clockOf(hour) === whole ? hour : null
}

/**
 * The fragment of a choice: only what differs from the first.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 */
export function fragmentOf(data, choice) {
  const first = initial(data)
  const said = new URLSearchParams()
  /** @type {(name: string, value: string, isFirst: boolean) => void} */
  const put = (name, value, isFirst) => {
    if (!isFirst) said.set(name, value)
  }
  put('from', timeText(data, choice.from), choice.from === first.from)
  put('to', timeText(data, choice.to), choice.to === first.to)
  for (const name of dimensions)
    put(addressed(data, name), choice[name], choice[name] === first[name])
  put('by', addressed(data, choice.by), choice.by === first.by)
  put('metric', choice.metric, choice.metric === first.metric)
  return said.toString()
}
