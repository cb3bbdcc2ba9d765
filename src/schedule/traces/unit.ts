import type { TraceUnit } from '../../scenario/loads.ts'
import { userError } from '../../user/user-error.ts'
import { type TraceRow, type TraceRows, unitUs } from './trace.ts'

/** The unit of a trace's times, and why. */
export interface UnitChoice {
  readonly unit: TraceUnit
  readonly reason: string
}

/**
 * Decides the unit of the times of rows. Known services receive no more than some hundred requests each second, so a
 * reading far above that is refused.
 *
 * @param written the unit that the scenario names; it decides
 * @param block tokens of a block that fits the rows
 * @throws UserError with both readings if the rows do not tell
 */
export function unitOf(
  { rows, unit, blocks }: TraceRows,
  written: TraceUnit | null,
  block: number | null,
  path: string,
): UnitChoice {
  if (written !== null) return { unit: written, reason: 'as the scenario says' }
  if (unit !== null) return { unit, reason: 'as its format defines' }
  if (block === 16) {
    throw userError.trace(
      `${path} has blocks of 16 tokens, which traces of Bailian have, in seconds; Mooncake's have 512, in milliseconds. ${both(rows)} Write format: bailian, or unit: s or unit: ms.`,
    )
  }
  // Times from a start may grow as large, but their first ones are small.
  const least = rows.reduce((so, { time }) => Math.min(so, time), Infinity)
  for (const [from, unit, since] of magnitudes) {
    if (least >= from) return { unit, reason: `${least} is ${since} since 1970` }
  }
  const fraction = rows.find(({ time }) => !Number.isInteger(time))
  if (fraction !== undefined) {
    const [ms, s] = [loadOf(rows, 'ms'), loadOf(rows, 's')]
    // Milliseconds may have fractions too: of a service that was hardly used, or a trace that is read too slow.
    if (s.spanS > 0 && s.perS < leastPerS && ms.perS <= mostPerS) unclear(path, rows)
    return { unit: 's', reason: `times have fractions, such as ${fraction.time}` }
  }
  const { perS, tokensPerS } = loadOf(rows, 'ms')
  // Only a format with blocks says that its whole numbers are milliseconds.
  if (blocks.length === 0 || perS > mostPerS || tokensPerS > 1e7) unclear(path, rows)
  return { unit: 'ms', reason: `whole numbers, ${rate(perS)} as milliseconds` }
}

/** Rates of known traces lie between, by far. */
const mostPerS = 1000
const leastPerS = 1 / 60

function unclear(path: string, rows: readonly TraceRow[]): never {
  throw userError.trace(
    `The unit of the times in ${path} is not clear. ${both(rows)} Write unit: ms or unit: s.`,
  )
}

const magnitudes = [
  [1e18, 'ns', 'nanoseconds'],
  [1e15, 'us', 'microseconds'],
  [1e12, 'ms', 'milliseconds'],
  [1e9, 's', 'seconds'],
] as const

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
  // Of rows of one moment, nothing tells the unit, and nothing depends on it.
  if (spanS === 0) return { spanS, perS: 0, tokensPerS: 0 }
  return { spanS, perS: rows.length / spanS, tokensPerS: tokens / spanS }
}

const rate = (perS: number) => `${Number(perS.toPrecision(3))} requests/s`
