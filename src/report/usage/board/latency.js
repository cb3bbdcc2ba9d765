// @ts-check
// Percentiles of latency over time, which only files of requests have.
import { drawLegend } from './elements.js'
import { drawLines } from './lines.js'
import { overTime } from './over-time.js'
import { speechOf } from './speech.js'
import { barsOf, item } from './sums.js'

/** @import { BoardData } from './data.ts' */
/** @import { Series, Span } from './types.ts' */
/** @import { LatencyOf } from './views.js' */

/** Latencies are counted in steps of a tenth: step `n` reaches from 1.1^n to 1.1^(n + 1) milliseconds. */
export const latencyStep = 1.1

/**
 * Percentiles of the latency of each bar, in milliseconds; null if fewer successes report one than it needs.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Span} span
 * @returns {readonly Series[]}
 */
export function latencies(data, places, { from, to }) {
  if (data.latency === null) return []
  const { bars, barWith } = barsOf(data, from, to)
  const wanted = new Set(places)
  /** @type {Map<number, number>[]} */
  const counts = bars.map(() => new Map())
  const { cell, step, count, needs } = data.latency
  cell.forEach((place, at) => {
    if (!wanted.has(place)) return
    const bar = counts[barWith(place)]
    const own = item(step, at)
    bar?.set(own, (bar.get(own) ?? 0) + item(count, at))
  })
  const sorted = counts.map((bar) => [...bar].sort(([a], [b]) => a - b))
  return needs.map(({ percent, samples }) => ({
    name: `p${percent}`,
    values: sorted.map((bar) => percentileOf(bar, percent / 100, samples)),
  }))
}

/**
 * @param {readonly (readonly [step: number, count: number])[]} steps
 * @param {number} share
 * @param {number} needed
 */
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

/** The classes of percentiles: p50, then p95. */
const kinds = ['s1', 's3 b-dotted']

/**
 * The view of the latencies of a choice; null without any.
 *
 * @type {LatencyOf}
 */
export const latencyOf = (data, places, choice, bars) => {
  const percentiles = latencies(data, places, choice)
  if (!percentiles.some(({ values }) => values.some((value) => value !== null))) return null
  const speech = speechOf(data)
  const title = speech.say(bars.bucket, { what: speech.say('latency') })
  const lines = percentiles.map(({ values }, at) => ({ kind: item(kinds, at), values }))
  return (size) => ({
    ...{ id: 'latency', title, note: speech.say('latencyNote') },
    tree: drawLines(speech, title, bars, lines, size),
    legend: drawLegend(percentiles.map(({ name }, at) => [name, item(kinds, at).slice(0, 2)])),
    ...overTime(data, bars, percentiles),
  })
}
