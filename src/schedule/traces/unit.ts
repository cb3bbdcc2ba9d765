import type { TraceUnit } from '../../scenario/loads.ts'
import { smallest } from '../../user/extremes.ts'
import { userError } from '../../user/user-error.ts'
import { type TraceRow, type TraceRows, unitUs } from './trace.ts'

/** The unit of a trace's times, and why. */
export interface UnitChoice {
  readonly unit: TraceUnit
  readonly reason: string
}

/** A trace whose times have a unit. */
interface TimedTrace {
  readonly trace: TraceRows
  /** For messages. */
  readonly path: string
  /** The unit that the scenario names. */
  readonly named: TraceUnit | null
  /** Tokens of a block that fits the rows. */
  readonly blockTokens: number | null
}

/**
 * Decides the unit of the times of rows, by the most certain of: the scenario, the format, the magnitude of Unix times,
 * the blocks, fractions, the rate.
 *
 * @throws UserError with both readings if the rows do not tell
 */
export function unitOf({ trace, path, named, blockTokens }: TimedTrace): UnitChoice {
  const { rows, unit, blocks } = trace
  if (named !== null) return { unit: named, reason: 'as the scenario says' }
  if (unit !== null) return { unit, reason: 'as its format defines' }
  const unix = unixUnitOf(rows)
  if (unix !== null) return unix
  const [ms, s] = [loadOf(rows, 'ms'), loadOf(rows, 's')]
  // No time depends on the unit then.
  if (ms.spanS === 0) return { unit: 'ms', reason: 'all requests are of one moment' }
  if (blockTokens === blocksOfSeconds) {
    throw userError.trace(
      `${path} has blocks of 16 tokens, which traces of Bailian have, in seconds; Mooncake's have 512, in milliseconds. ${both(rows)} Write format: bailian, or unit: s or unit: ms.`,
    )
  }
  const fraction = rows.find(({ time }) => !Number.isInteger(time))
  if (fraction !== undefined) {
    // Milliseconds may have fractions too. If seconds give hardly any load and milliseconds a usual one, either may be meant.
    if (s.perS < leastPerS && ms.perS <= mostPerS) unclear(path, rows)
    return { unit: 's', reason: `times have fractions, such as ${fraction.time}` }
  }
  // Only a format with blocks says that its whole numbers are milliseconds.
  const isUsual = ms.perS <= mostPerS && ms.tokensPerS <= mostTokensPerS
  if (blocks.length === 0 || !isUsual) unclear(path, rows)
  return { unit: 'ms', reason: `whole numbers, ${rate(ms.perS)} as milliseconds` }
}

/** Tokens of a block in traces of Bailian, whose times are seconds. */
const blocksOfSeconds = 16

/** The traces whose formats are known, such as Azure's and Mooncake's, lie between these by far. */
const mostPerS = 1000
const leastPerS = 1 / 60
const mostTokensPerS = 1e7

function unclear(path: string, rows: readonly TraceRow[]): never {
  throw userError.trace(
    `The unit of the times in ${path} is not clear. ${both(rows)} Write unit: ms or unit: s.`,
  )
}

/** From when on a number is a Unix time of this unit: all of them in 2001. */
const magnitudes = [
  { from: 1e18, unit: 'ns', word: 'nanoseconds' },
  { from: 1e15, unit: 'us', word: 'microseconds' },
  { from: 1e12, unit: 'ms', word: 'milliseconds' },
  { from: 1e9, unit: 's', word: 'seconds' },
] as const

/** The least time tells: times since a start may grow as large as Unix times, but their first ones are small. */
function unixUnitOf(rows: readonly TraceRow[]): UnitChoice | null {
  const least = smallest(rows.map(({ time }) => time))
  const magnitude = magnitudes.find(({ from }) => least >= from)
  if (magnitude === undefined) return null
  return { unit: magnitude.unit, reason: `${least} is ${magnitude.word} since 1970` }
}

function both(rows: readonly TraceRow[]): string {
  const [ms, s] = [loadOf(rows, 'ms'), loadOf(rows, 's')]
  return `In milliseconds it is ${rate(ms.perS)} over ${ms.spanS} s, in seconds ${rate(s.perS)} over ${s.spanS} s.`
}

function loadOf(rows: readonly TraceRow[], unit: TraceUnit) {
  let [first, last, tokens] = [Infinity, -Infinity, 0]
  for (const { time, inputTokens } of rows) {
    first = Math.min(first, time)
    last = Math.max(last, time)
    tokens += inputTokens
  }
  const spanS = ((last - first) * unitUs[unit]) / 1e6
  if (spanS === 0) return { spanS, perS: 0, tokensPerS: 0 }
  return { spanS, perS: rows.length / spanS, tokensPerS: tokens / spanS }
}

const rate = (perS: number) => `${Number(perS.toPrecision(3))} requests/s`
