import { decimalText, multiply, type Rational, readNumber } from '../../../money/rational.ts'
import { type DialectName, dialects } from '../../../tokens/dialects.ts'
import { type KindCounts, kindCounts } from '../../../tokens/kinds.ts'
import { readUsage } from '../../../tokens/read-usage.ts'
import { isObject, type Json, type JsonObject, jsonOf } from '../../../user/json.ts'

/** A parsed object of a log. Numbers that a double would change are text. */
export type Fields = JsonObject

/** One row of a known log. Absent: not known. Numbers and times are as the log has them; `normalRows` checks them. */
export interface NormalRow extends Partial<KindCounts> {
  readonly id?: string
  readonly time: unknown
  /** Exclusive end of the interval of a sum; absent for an event. */
  readonly end?: unknown
  readonly type?: string
  readonly version?: unknown
  readonly model?: unknown
  readonly endpoint?: unknown
  /** A key, or its SHA-256. */
  readonly key?: unknown
  /** The name of a key. */
  readonly keyFp?: unknown
  /** A redacted form of a key, beside its name. */
  readonly lastFour?: unknown
  readonly account?: unknown
  readonly outcome?: string
  readonly status?: unknown
  readonly errorCode?: unknown
  readonly requests?: unknown
  readonly cost?: unknown
  readonly unit?: string
  readonly ttftMs?: unknown
  readonly latencyMs?: unknown
  /** Two times whose difference is a duration. */
  readonly began?: unknown
  readonly firstToken?: unknown
  readonly ended?: unknown
  /** The service that a line of a bill charges, if it is not one of models: the line is no row. */
  readonly otherService?: string
  /** Why the line cannot be a row. */
  readonly problem?: string
  /** Other dimensions of a sum, by name. */
  readonly [dimension: string]: unknown
}

/** The rows of a format whose items are one row each. */
export const one = (of: (item: Fields) => NormalRow) => (item: Fields) => [of(item)]

/** The objects of a list; empty for anything else. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The value at a path, through objects and JSON text. */
export function at(value: unknown, ...steps: readonly string[]): Json | undefined {
  let here = value as Json | undefined
  for (const step of steps) {
    if (typeof here === 'string') here = jsonOf(here)
    if (!isObject(here)) return undefined
    here = here[step]
  }
  return here
}

/** The first value that is not null or empty. */
export function first<Value>(...values: readonly Value[]): Value | undefined {
  return values.find((value) => value !== null && value !== undefined && value !== '')
}

export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|t|1|yes)$/i.test(value))
}

/** A decimal, times an exact factor: cents, billionths, quota. Text that is no number stays, to be rejected. */
export function scaled(value: unknown, factor: Rational): unknown {
  if (first(value) === undefined) return undefined
  const amount = readNumber(String(value))
  return amount === null ? value : decimalText(multiply(amount, factor))
}

/** The tokens of a row in a dialect. */
export function tokensOf(row: Fields, dialect: DialectName): Partial<NormalRow> {
  const { parts, flags } = readUsage(row, dialect)
  if (flags.includes('not-a-count') || flags.includes('unreadable-count'))
    return { problem: 'tokens: expected whole numbers, 0 or more' }
  // Parts that exceed their total stay as they are stated: the import counts such rows.
  return {
    ...kindCounts(parts),
    ...(flags.includes('parts>prompt') ? { input: stated(row, dialect, 'input') } : {}),
    ...(flags.includes('parts>output') ? { output: stated(row, dialect, 'output') } : {}),
  }
}

function stated(row: Fields, dialect: DialectName, name: 'input' | 'output'): number | null {
  const places = dialects[dialect].counts[name] ?? []
  const value = first(...places.map((path) => first(row[path], at(row, ...path.split('.')))))
  return value === undefined ? null : Number(value)
}

/** The day after a day, `2026-11-03`. */
export function nextDay(day: string): string {
  const ms = Date.parse(`${day.slice(0, 10)}T00:00:00Z`)
  return Number.isNaN(ms) ? day : new Date(ms + 86_400e3).toISOString().slice(0, 10)
}
