// @ts-check
// What a chart of bars over time says of them.
import { speechOf } from './speech.js'

/** @import { BoardData } from './data.ts' */
/** @import { Bars, BarsView, Series } from './types.ts' */

/**
 * What a view says of its bars: of one, and as a table.
 *
 * @param {BoardData} data
 * @param {Bars} bars
 * @param {readonly Series[]} series
 * @returns {Pick<BarsView, 'bars' | 'bucket' | 'times' | 'describe' | 'table'>}
 */
export function overTime(data, { bars, bucket }, series) {
  const { say, show, timeOf } = speechOf(data)
  return {
    ...{ bars, bucket, times: bars.map(({ start, end }) => [start, end]) },
    describe: (at) => series.map(({ name, values }) => [name, show(values[at])]),
    table: () => [
      [say('time'), ...series.map(({ name }) => name)],
      bars.map((bar, at) => [timeOf(bucket, bar), ...series.map(({ values }) => values[at])]),
    ],
  }
}
