import { createParser } from 'eventsource-parser'

/**
 * @param text without a byte order mark, which this parser looks for in another form: a comment comes first
 * @returns the data of each event, by a parser of another make
 */
export function eventsIn(text) {
  const events = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  parser.feed(':\n')
  // At the end the parser waits for the second half of a CRLF.
  parser.feed(text.endsWith('\r') ? `${text}\n` : text)
  return events
}
