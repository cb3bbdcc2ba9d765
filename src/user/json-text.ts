import { withoutMark } from './byte-order-mark.ts'

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
