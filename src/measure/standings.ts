import { flagSql } from '../attempt/flags.ts'
import { generated, streamedTokens, streams, succeeded, textUs } from './row-sql.ts'

/**
 * SQL: whether a row of a run counts.
 *
 * @param hasSteady SQL: whether its run has a steady part
 */
export const countedSql = (hasSteady: string) => `(part = 'steady' OR NOT ${hasSteady})`

/** SQL of whether a row of the run `$1` counts. */
export const countedOfRun = countedSql(
  `EXISTS (FROM request_kinds WHERE run_id = $1 AND part = 'steady')`,
)

/** SQL: the outcome that the scenario intended. */
const intendedOutcome = `CASE expects WHEN 'ok' THEN 'ok' ELSE 'http_error' END`

/** SQL: a stream with time between its first and its last content. */
const hasSpan = `streamed = 1 AND coalesce(last_content_us > first_content_us, false)`
/** SQL: how many tokens were streamed is unknown, or they came in pieces without known times of text. */
const hasUnknownTokens = `(${streamedTokens} IS NULL OR (${streamedTokens} > ${streams} AND (${textUs}) IS NULL))`

/** How an attempt counts, by SQL over a row of `attempts`: first truth values, then numbers of tokens. */
export const standings = {
  counted: {
    sql: countedSql(`run_id IN (SELECT run_id FROM request_kinds WHERE part = 'steady')`),
    summary: 'it belongs to the steady part, or its run has none; figures cover only these',
  },
  was_sent: { sql: `outcome <> 'not_sent'`, summary: 'it was sent' },
  on_purpose: {
    sql: `outcome = 'aborted' OR (expects <> 'ok' AND outcome = 'http_error')`,
    summary:
      'it ended as the scenario intended: an abort, or the error that it was made to provoke',
  },
  succeeded: { sql: succeeded, summary: 'it was meant to succeed, and did' },
  judged: {
    sql: `expects = 'ok' AND outcome NOT IN ('not_sent', 'aborted')`,
    summary: 'it was meant to succeed, and ended: the denominator of goodput and success',
  },
  failed: {
    sql: `outcome NOT IN ('not_sent', 'aborted') AND outcome <> ${intendedOutcome}`,
    summary: 'it was sent and ended in an unexpected way, other than by our own abort',
  },
  examined: {
    sql: `${succeeded} AND answer IS NOT NULL`,
    summary:
      'it succeeded, and its step says what the answer must hold: the denominator of correct',
  },
  correct: { sql: `answer = 'correct'`, summary: 'its answer holds all that its step expects' },
  wrong: {
    sql: `answer NOT IN ('correct', 'unchecked')`,
    summary: 'it succeeded, but its answer lacks something that its step expects; no error',
  },
  generated: {
    sql: `${generated}`,
    summary:
      'it succeeded at chat or messages, so it has tokens, reported or not: the denominator of empty',
  },
  empty: {
    sql: `${generated} AND first_content_us IS NULL AND (events > 0 OR coalesce(completion_tokens = 0, false))`,
    summary:
      'it is `generated` and holds nothing: a stream without text, reasoning or a tool call, or a body of 0 completion tokens',
  },
  unreported: {
    sql: `${generated} AND completion_tokens IS NULL`,
    summary: 'it has tokens, and the service did not report how many',
  },
  untimed: {
    sql: `${succeeded} AND ${hasSpan} AND ${hasUnknownTokens}`,
    summary:
      'it is a stream of which it is not known how many tokens were streamed, so it has no TPOT, and is neither good nor bad under an objective for TPOT',
  },
  hidden_tokens: {
    sql: `CASE WHEN ${generated} AND streamed = 1 AND content_events > 0 AND NOT ${flagSql('reasoning')} AND reasoning_tokens > 0 THEN reasoning_tokens END`,
    summary: 'tokens of reasoning that a stream counted and did not hold',
  },
  estimated_tokens: {
    sql: `CASE WHEN ${generated} AND completion_tokens IS NULL AND content_events > 0 THEN content_events END`,
    summary:
      'content events of a stream that is `unreported`: an estimate, because an event is not a token',
  },
  output_tokens: {
    sql: `CASE WHEN ${succeeded} THEN completion_tokens END`,
    summary: 'completion tokens that the service reported for a success',
  },
} as const satisfies Record<string, { readonly sql: string; readonly summary: string }>
