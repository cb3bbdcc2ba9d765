// @ts-check
// The chart of what was used, added up.
import { cumulativeX, drawCumulative, legendOfCumulative } from './cumulative.js'
import { drawLegend } from './elements.js'
import { speechOf } from './speech.js'
import { bucketOf, buckets, item, metrics } from './sums.js'
import { titleOf, unitOf } from './tables.js'

/** @import { BoardData } from './data.ts' */
/** @import { Choice, Point, Size, View } from './types.ts' */

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
  for (let start = of(choice.from); start < last || sums.has(start); start = next(start, data)) {
    sum += sums.get(start) ?? 0
    points.push({ hour: Math.max(start, Math.min(next(start, data), last)), sum })
  }
  return points
}

/**
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {readonly number[]} places
 * @param {boolean} unfiltered
 * @param {Size} size
 * @returns {View}
 */
export function cumulativeView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const { say, timeOf } = speech
  const what = titleOf(data, choice.metric)
  const isWhole = choice.metric === 'credits' && unfiltered && choice.to === data.to
  const outlook = isWhole ? data.outlook : null
  const points = cumulative(data, places, choice)
  return {
    ...{ id: 'cumulative', wide: true, speech, ...unitOf(data, choice.metric) },
    times: points.map(({ hour }) => [hour]),
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
