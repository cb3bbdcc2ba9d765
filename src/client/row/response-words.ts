import { fingerprintOf } from '../../attempt/fingerprint.ts'
import type { Secrets } from '../../user/secrets/secrets.ts'
import type { Span } from '../bytes/span.ts'

/** A service may send endless or hostile words, so the list and each word are bounded. */
const maxWords = 512
export const maxTextLength = 200
/** The part of a text beyond this counts only in its hash. */
const maxCleanedLength = 4096

/** Strings that responses repeat (models, finish reasons), looked up by their bytes: a known word costs a comparison. */
export class ResponseWords {
  private readonly byLength: { readonly bytes: Buffer; readonly text: string }[][] = []
  private count = 0
  /** What no word may contain. */
  readonly secrets: Secrets

  constructor(secrets: Secrets) {
    this.secrets = secrets
  }

  /** The text, without a key that a service echoes. */
  text(bytes: Buffer, span: Span): string {
    const { start, end } = span
    const length = end - start
    if (span.escaped || length > maxTextLength) return textOf(bytes, span, this.secrets)
    while (this.byLength.length <= length) this.byLength.push([])
    const words = this.byLength[length]!
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!
      let same = 0
      while (same < length && bytes[start + same] === word.bytes[same]) same++
      if (same === length) return word.text
    }
    const text = textOf(bytes, span, this.secrets)
    // A redacted text differs from its bytes, so it is not kept.
    if (this.count < maxWords && text === bytes.toString('utf8', start, end)) {
      words.push({ bytes: Buffer.from(bytes.subarray(start, end)), text })
      this.count++
    }
    return text
  }
}

/** A string that rarely repeats. A long one is cut and gets a hash of the whole, so that different ones stay different. */
export function textOf(bytes: Buffer, span: Span, secrets: Secrets): string {
  const raw = bytes.toString('utf8', span.start, span.end)
  const whole = span.escaped ? (JSON.parse(`"${raw}"`) as string) : raw
  const text = secrets.without(whole.slice(0, maxCleanedLength))
  if (whole.length <= maxCleanedLength && text.length <= maxTextLength) return text
  // A cut through a surrogate pair is not valid UTF-8 and would read back as something else.
  return `${text.slice(0, maxTextLength - 13).toWellFormed()}~${fingerprintOf(whole)}`
}
