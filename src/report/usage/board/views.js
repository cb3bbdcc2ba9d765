// @ts-check
// What the usage page shows of a choice: every chart, card and table. It runs where the page is made and in the browser.
import { cumulativeView } from './cumulative-view.js'
import { failuresView, tokensView, weekView } from './half-views.js'
import { chosen, dimensions, perBar, total, week } from './sums.js'
import { cardsOf, tablesOf } from './tables.js'
import { useView } from './use-view.js'

/** @import { BoardData } from './data.ts' */
/** @import { Choice, Size, SizeName, View, Views } from './types.ts' */

/** @typedef {ReturnType<typeof perBar>} Sums */
/** @typedef {(data: BoardData, places: readonly number[], choice: Choice, bars: Sums) => ((size: Size) => View) | null} LatencyOf the view of latencies, if there are any */

const column = { width: 660, height: 200 }
const phone = { width: 320, height: 200 }

/**
 * Sizes of drawings: wide and half. Each is about as wide as its place, so that its words are as large as those around it.
 *
 * @type {Readonly<Record<SizeName, Readonly<Record<'wide' | 'half', Size>>>>}
 */
const sizes = {
  desk: { wide: { width: 1000, height: 250 }, half: { width: 480, height: 190 } },
  middle: { wide: column, half: column },
  paper: { wide: column, half: phone },
  phone: { wide: phone, half: phone },
}

/**
 * All views of a choice. A table is lazy: rows are made only if the reader asks.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {SizeName} [size]
 * @param {LatencyOf} [latencyOf] of data that have latencies
 * @returns {Views}
 */
export function viewsOf(data, choice, size = 'desk', latencyOf) {
  const { wide, half } = sizes[size]
  const places = chosen(data, choice)
  const found = total(data, places)
  const isQuiet = !places.length && choice.to > data.measuredFrom && choice.from < data.measuredTo
  const sums = isQuiet ? { ...found, requests: 0 } : found
  const unfiltered = dimensions.every((name) => choice[name] === '')
  const bars = perBar(data, places, choice)
  const isWeek = data.finest === 'hour' && choice.to - choice.from >= 168
  // Of few requests, each hour's median is 0, which shows nothing.
  const hours = isWeek ? week(data, places, choice) : []
  /** @type {((size: Size) => View)[]} */
  const halves = [(box) => failuresView(data, bars, box)]
  if (sums.input !== null || sums.output !== null) halves.push((box) => tokensView(data, bars, box))
  const latency = latencyOf?.(data, places, choice, bars)
  if (latency) halves.push(latency)
  if (hours.some((median) => median !== null && median > 0))
    halves.push((box) => weekView(data, hours, box))
  // The last of an odd number has its row for itself.
  /** @param {number} at */
  const isAlone = (at) => at === halves.length - 1 && at % 2 === 0
  const views = [
    useView(data, choice, places, unfiltered, wide),
    cumulativeView(data, choice, places, unfiltered, wide),
    ...halves.map((view, at) => (isAlone(at) ? { ...view(wide), whole: true } : view(half))),
  ]
  return {
    ...{ sums, views },
    cards: cardsOf(data, sums),
    tables: tablesOf(data, places, choice),
  }
}
