import { flagSql } from '../attempt/flags.ts'
import { generatesSql } from '../contract/request.ts'

/** SQL over `attempts`: when a request was sent, and when its answer ended; microseconds of the run's clock. */
export const began = 'coalesce(sent_us, dispatched_us, intended_us)'
export const ended = 'coalesce(done_us, closed_us)'
export const answered = `expects = 'ok' AND outcome IN ('ok', 'timeout')`
export const succeeded = `expects = 'ok' AND outcome = 'ok'`
export const generated = `${succeeded} AND ${generatesSql}`
/** A 2xx body that is not a stream has no first token, even if a stream was requested. */
export const asStream = `streamed = 1 AND (outcome = 'timeout' OR events > 0 OR first_content_us IS NOT NULL)`

/**
 * SQL: completion tokens that the text of a stream is made of; null if it is not known how many. Reasoning that was
 * counted and not streamed, and images, are no part of them.
 */
export const streamedTokens = `(CASE
  WHEN ${flagSql('textInPart')} THEN NULL
  WHEN coalesce(reasoning_tokens, 0) = 0 OR ${flagSql('reasoning')} THEN completion_tokens
  WHEN content_events > 0 THEN completion_tokens - reasoning_tokens
END - coalesce(output_image_tokens, 0))`
/** SQL: answers in one stream, each of which has a first token; messages have blocks, which follow each other. */
export const streams = `CASE WHEN endpoint = 'chat' AND choices > 1 THEN choices ELSE 1 END`
/** SQL: microseconds from the first to the last text of each of them, added up. */
export const textUs = `CASE WHEN endpoint = 'chat' AND choices > 1 THEN text_us ELSE last_content_us - first_content_us END`
