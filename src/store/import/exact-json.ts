import { literal } from '../literal.ts'
import { type Column, jsonSql, stepsOf } from './places.ts'

/** Different decimal numbers of at most so many characters are different doubles. */
export const doubleDigits = 15

/** SQL for the value at a path of a JSON text, a number with all of its digits. */
export function exactJsonSql(json: string, path: Column): string {
  const value = jsonSql(json, path)
  return `coalesce(${longNumberSql(json, value, path)}, ${value})`
}

/** A number with more digits than a double has. */
const longNumber = String.raw`-?\d[\d.]{${doubleDigits},}(?:[eE][+-]?\d+)?`
const jsonString = String.raw`"(?:[^"\\]|\\.)*"`

/**
 * SQL for a number with more digits than a double has, as it is written; null for a shorter one. The JSON reader of DuckDB
 * makes doubles of numbers, so a long one is read again from a text that has it in quotes.
 *
 * @param value SQL for what that reader finds at the path
 */
export function longNumberSql(json: string, value: string, path: Column): string {
  const step = stepsOf(path).at(-1)!
  const isElement = /^\d+$/.test(step)
  const before = isElement
    ? String.raw`([\[,:]\s*)`
    : String.raw`(\Q${JSON.stringify(step)}\E\s*:\s*)`
  const long = literal(`${before}(${longNumber})`)
  const quoted = isElement
    ? allQuotedSql(json)
    : `regexp_replace(${json}, ${long}, '\\1"\\2"', 'g')`
  // The double of a long number may have a short text: 1000000.000000000000000017 is 1000000.0.
  const isLong = `strlen(${value}) > ${doubleDigits} OR regexp_matches(${json}, ${long})`
  return `CASE WHEN ${isLong} THEN ${jsonSql(quoted, path)} END`
}

/**
 * SQL for a JSON text with quotes around each long number. Elements of a list have no name before them, and a string may hold
 * what looks like one. So strings are matched, too: a string gets two marks behind it, which go, and a number one on each side.
 */
function allQuotedSql(json: string): string {
  const parts = literal(`(${jsonString})|(${longNumber})`)
  const marked = `regexp_replace(${json}, ${parts}, '\\1' || chr(1) || '\\2' || chr(1), 'g')`
  return `replace(replace(${marked}, chr(1) || chr(1), ''), chr(1), '"')`
}
