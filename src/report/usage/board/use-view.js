// @ts-check
// The first chart: what was used over time, and why some of it was dear.
import { drawBars, legendOfBars, legendOfCut, markOf } from './bars.js'
import { drawLegend, h, legendOf } from './elements.js'
import { isSecond } from './offsets.js'
import { overTime } from './over-time.js'
import { speechOf } from './speech.js'
import { dimensions, stacked } from './sums.js'
import { titleOf, unitOf } from './tables.js'

/** @import { Width } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { Bar, BarsView, Choice, Size, Span } from './types.ts' */

/**
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {readonly number[]} places
 * @param {boolean} unfiltered
 * @param {Size} size
 * @returns {BarsView}
 */
export function useView(data, choice, places, unfiltered, size) {
  const speech = speechOf(data).of(choice.metric)
  const main = stacked(data, places, choice)
  /** @param {string} name */
  const nameOf = (name) => speech.nameOf(name, choice.by, main.rest)
  const title = speech.say(main.bucket, { what: titleOf(data, choice.metric) })
  const marks = unfiltered ? marksOf(data, choice, main.bars) : []
  const { bars, bucket } = main
  const isAmount = bucket === 'day' && (choice.metric === 'credits' || choice.metric === 'money')
  // The reasons of one part are none of another.
  const isExplained = dimensions.every((name) => choice[name] === data.dearsOf[name])
  const dears = isAmount && isExplained ? data.dears : []
  /** @param {number} at */
  const whyOf = (at) => dears.find(({ hour }) => hour === bars[at]?.start)?.said ?? null
  const series = main.series.map(({ name, values }) => ({ name: nameOf(name), values }))
  const legend = [
    ...(series.length > 1 ? legendOf(nameOf, main.series) : []),
    ...legendOfBars(speech, bars),
    ...legendOfCut(speech, main),
    ...(marks.length > 0 ? [/** @type {const} */ ([speech.say('marked'), 'b-mark'])] : []),
  ]
  const table = overTime(data, main, series)
  return {
    ...{ id: 'use', wide: true, title, speech, ...unitOf(data, choice.metric) },
    note:
      [choice.metric === 'credits' ? data.aboutUnit : null, ...clockNotes(data, choice, bucket)]
        .filter(Boolean)
        .join(' ') || null,
    tree: drawBars(
      speech,
      `${title}, ${speech.say('by')} ${speech.say(choice.by)}`,
      {
        ...main,
        marks,
        dears,
        peak: isAmount,
        blank: choice.metric === 'credits' ? data.blank : [],
      },
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
              marks.map(({ rank, text, from, to }) =>
                h('li', { 'data-from': from, 'data-to': to }, `${markOf(rank)} ${text}`),
              ),
            ),
          ),
    ...table,
    table: () => {
      const [heads, rows] = table.table()
      return bars.some((_, at) => whyOf(at) !== null)
        ? [[...heads, speech.say('why')], rows.map((row, at) => [...row, whyOf(at) ?? ''])]
        : [heads, rows]
    },
    describe: (at) =>
      series
        .filter(({ values }) => values[at] !== null)
        .map(({ name, values }) => [name, speech.show(values[at])]),
    whyOf,
  }
}

/**
 * That a day of these hours is longer or shorter than others.
 *
 * @param {BoardData} data
 * @param {Span} span
 * @param {Width} bucket
 */
function clockNotes(data, { from, to }, bucket) {
  const { say, timeOf } = speechOf(data)
  const changes = bucket === 'hour' ? data.offsets.slice(1) : []
  return changes.flatMap(({ hour }) => {
    const start = Math.floor(hour / 24) * 24
    const date = timeOf('day', { start, end: start + 24 })
    return hour >= from && hour < to ? [say(isSecond(hour) ? 'longDay' : 'shortDay', { date })] : []
  })
}

/** The most marks over a chart: the greatest. */
const mostMarks = 12

/**
 * The greatest unusual hours within the choice in the order of time, each with its bar and its day.
 *
 * @param {BoardData} data
 * @param {Span} span
 * @param {readonly Bar[]} bars
 */
function marksOf(data, { from, to }, bars) {
  return data.marks
    .filter(({ hour }) => hour >= from && hour < to)
    .slice(0, mostMarks)
    .sort((a, b) => a.hour - b.hour)
    .map(({ hour, text }, at) => ({
      ...{ rank: at + 1, text, from: Math.max(data.from, Math.floor(hour / 24) * 24) },
      to: Math.min(data.to, Math.floor(hour / 24) * 24 + 24),
      bar: bars.findIndex(({ start, end }) => start <= hour && hour < end),
    }))
}
