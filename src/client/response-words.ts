import { fingerprintOf } from '../attempt/fingerprint.ts'
import { withoutKey } from './redaction.ts'
import type { Span } from './span.ts'

/** A service's words could be endless or hostile, so the list and each of them are bounded. */
const maxWords = 512
export const maxTextLength = 200
/** Of a text that is longer, the rest counts by its hash alone. */
const maxCleanedLength = 4096

/**
 * Strings that responses repeat (models, finish reasons, error codes), made once: looked up by
 * their bytes, so that the same word costs a comparison and no string.
 */
export class ResponseWords {
  private readonly byLength: { readonly bytes: Buffer; readonly text: string }[][] = []
  private count = 0

  /** @param key of the request: a service that echoes it does not get it into a row */
  text(bytes: Buffer, span: Span, key: string): string {
    const { start, end } = span
    const length = end - start
    if (span.escaped || length > maxTextLength) return textOf(bytes, span, key)
    while (this.byLength.length <= length) this.byLength.push([])
    const words = this.byLength[length]!
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!
      let same = 0
      while (same < length && bytes[start + same] === word.bytes[same]) same++
      if (same === length) return word.text
    }
    const text = textOf(bytes, span, key)
    // What another key made of it holds for that key alone.
    if (this.count < maxWords && text === bytes.toString('utf8', start, end)) {
      words.push({ bytes: Buffer.from(bytes.subarray(start, end)), text })
      this.count++
    }
    return text
  }
}

/**
 * A string that hardly repeats. One that is too long keeps its beginning and a hash of the whole,
 * so that different ones stay different.
 */
export function textOf(bytes: Buffer, span: Span, key: string): string {
  const raw = bytes.toString('utf8', span.start, span.end)
  const whole = span.escaped ? (JSON.parse(`"${raw}"`) as string) : raw
  const text = withoutKey(whole.slice(0, maxCleanedLength), key)
  if (whole.length <= maxCleanedLength && text.length <= maxTextLength) return text
  // Half of a pair has no UTF-8, so a cut through one would read back as something else.
  return `${text.slice(0, maxTextLength - 13).toWellFormed()}~${fingerprintOf(whole)}`
}
