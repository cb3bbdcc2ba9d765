/** A range of the bytes that were read; `start` is -1 without such a string. */
export interface Span {
  start: number
  end: number
  escaped: boolean
}

export function isWord(bytes: Uint8Array, start: number, end: number, word: Buffer): boolean {
  if (end - start !== word.length) return false
  for (let at = 0; at < word.length; at++) if (bytes[start + at] !== word[at]) return false
  return true
}

export const spanIs = (bytes: Uint8Array, span: Span, word: Buffer): boolean =>
  span.start >= 0 && isWord(bytes, span.start, span.end, word)

export const spanBegins = (bytes: Uint8Array, { start, end }: Span, word: Buffer): boolean =>
  start >= 0 && end - start >= word.length && isWord(bytes, start, start + word.length, word)

export const spanEnds = (bytes: Uint8Array, { start, end }: Span, word: Buffer): boolean =>
  start >= 0 && end - start >= word.length && isWord(bytes, end - word.length, end, word)

export const span = (): Span => ({ start: -1, end: -1, escaped: false })

export function setSpan(span: Span, start: number, end: number, escaped: boolean): void {
  span.start = start
  span.end = end
  span.escaped = escaped
}

export function copySpan(from: Span, to: Span): void {
  setSpan(to, from.start, from.end, from.escaped)
}

/** Words as the bytes that a document has of them. */
export const words = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text))
