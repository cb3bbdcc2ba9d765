// @ts-check
// What a reader chose: a period, filters, what bars show, and by which names they are split. It stands in the address.
import { dateOf, dimensions, hourOf, item } from './sums.js'

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
    if (text === null || !/^\d{4}-\d{2}-\d{2}(T\d{2}(:00)?)?$/.test(text)) return otherwise
    const found = hourOf(text.slice(0, 10)) + Number(text.slice(11, 13))
    return Number.isFinite(found) ? Math.min(Math.max(found, data.from), data.to) : otherwise
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
 * A local hour as addresses have it, or the day that begins with it.
 *
 * @param {number} hour
 */
export const timeText = (hour) =>
  `${dateOf(hour)}${hour % 24 === 0 ? '' : `T${String(hour % 24).padStart(2, '0')}:00`}`

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
  put('from', timeText(choice.from), choice.from === first.from)
  put('to', timeText(choice.to), choice.to === first.to)
  for (const name of dimensions)
    put(addressed(data, name), choice[name], choice[name] === first[name])
  put('by', addressed(data, choice.by), choice.by === first.by)
  put('metric', choice.metric, choice.metric === first.metric)
  return said.toString()
}
