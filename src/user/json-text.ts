/** A text without the byte order mark at its start. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, '')

/**
 * The JSON of a text that a service sent; undefined if it is none. A byte order mark before it is skipped, as the official
 * clients and browsers do, and as RFC 8259 (8.1) allows.
 *
 * @param reviver as of `JSON.parse`
 */
export function jsonOf(text: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown {
  try {
    return JSON.parse(withoutMark(text), reviver)
  } catch {
    return undefined
  }
}
