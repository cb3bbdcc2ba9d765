// @ts-check
// The requests that a page without a server holds.
import { dimensions, firstHour, item } from './sums.js'
import { requestCells } from './tables.js'

/** @import { Dimension } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { Choice, ListedRequest, RequestPage, RequestSort } from './types.ts' */

/** A page holds this many rows of a list at first, and with each press more. */
const listedAtOnce = 100

/** @type {Readonly<Record<RequestSort, (request: ListedRequest) => number | null>>} */
const sortedBy = {
  time: ({ hour }) => hour,
  amount: ({ amount }) => amount,
  tokens: ({ input, output }) =>
    input === null && output === null ? null : (input ?? 0) + (output ?? 0),
  duration: ({ duration }) => duration,
}

/**
 * A part of the requests that the page holds; null if it holds none.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {RequestSort} sort
 * @param {string | null} cursor
 * @returns {RequestPage | null}
 */
export function heldRequests(data, choice, sort, cursor) {
  const { requests } = data
  if (requests === null) return null
  /** @type {(name: Dimension, at: number) => string} */
  const given = (name, at) => item(data.names[name], item(requests[name], at))
  /** @param {number} at */
  const listed = (at) => ({
    ...{
      id: item(requests.id, at),
      hour: item(requests.hour, at),
      clock: item(requests.clock, at),
    },
    names: dimensions.map((name) => given(name, at)),
    ...{ status: item(requests.status, at), duration: item(requests.duration, at) },
    ...{ input: item(requests.input, at), output: item(requests.output, at) },
    amount: item(requests.credits, at),
  })
  const value = sortedBy[sort]
  const order = (/** @type {ListedRequest} */ each) => value(each) ?? Number.NEGATIVE_INFINITY
  const first = firstHour(data, choice.from)
  // The newest stands last in the data, and first in the list.
  const all = [...requests.hour.keys()]
    .filter((at) => {
      const hour = item(requests.hour, at)
      return (
        hour >= first &&
        hour < choice.to &&
        dimensions.every((name) => choice[name] === '' || given(name, at) === choice[name])
      )
    })
    .map(listed)
    .toReversed()
    .toSorted((a, b) => (order(a) === order(b) ? 0 : order(b) - order(a)))
  const from = Number(cursor ?? 0)
  const to = from + listedAtOnce
  return {
    rows: all.slice(from, to).map((each) => requestCells(data, choice, each)),
    next: to < all.length ? String(to) : null,
  }
}
