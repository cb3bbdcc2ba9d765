import { type LoggedTokens, type LogToken, logTokens } from '../../../contract/prices.ts'
import type { LogRow } from './log.ts'

/** What the rows of one request count. */

/** Rows that each have counts of their own, as a log by kind of token has them, as one; null if two of them have the same count. */
export function inOneRow(rows: readonly LogRow[]): LogRow | null {
  const [first] = rows
  if (first === undefined || rows.length === 1) return null
  const tokens: Record<LogToken, number | null> = { ...first.tokens }
  for (const { tokens: more } of rows.slice(1))
    for (const name of logTokens) {
      if (!more[name]) continue
      if (tokens[name]) return null
      tokens[name] = more[name]
    }
  return { ...first, tokens }
}

/** A row of an attempt that gave way to another: it says that it had no output. */
export const isAttempt = ({ tokens }: LogRow) => tokens.completion === 0

/** The counts of a request: those of its rows together if each has its own, else those of the row of its answer. */
export function countsOf(rows: readonly LogRow[]): LoggedTokens {
  const counting = rows.filter(({ tokens }) => logTokens.some((name) => (tokens[name] ?? 0) > 0))
  const row = inOneRow(counting) ?? counting.find((each) => !isAttempt(each)) ?? rows[0]!
  return row.tokens
}
