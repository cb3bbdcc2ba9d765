import {
  countTokens as count,
  isWithinTokenLimit as countWithin,
  decode,
  encode,
} from 'gpt-tokenizer/encoding/cl100k_base'

/** Text such as `<|endoftext|>` in a prompt is ordinary text, not a control token. */
const asText = { disallowedSpecial: new Set<string>() }

/** Counts of recent texts: load tools send the same prompt again and again. */
const known = new Map<string, number>()
const maxKnown = 10_000
const maxKnownLength = 4_096

/** Most tokens of a UTF-16 unit: it is three bytes at most, and a token is one byte or more. */
const maxCharacterTokens = 3

/**
 * Tokens of a text by a real byte-pair encoding (cl100k_base).
 *
 * @param most counting stops beyond it and the result is a larger number, because megabytes that no
 *   model accepts would block everybody else for seconds
 */
export function countTokens(text: string, most = Number.POSITIVE_INFINITY): number {
  const before = known.get(text)
  if (before !== undefined) return before
  let tokens = 0
  for (const part of inParts(text)) {
    const left = most - tokens
    const more =
      part.length * maxCharacterTokens <= left
        ? count(part, asText)
        : countWithin(part, left, asText)
    if (more === false) return most + 1
    tokens += more
  }
  if (text.length <= maxKnownLength) {
    if (known.size >= maxKnown) known.clear()
    known.set(text, tokens)
  }
  return tokens
}

/**
 * Cuts the text at the ends of its tokens, so that each piece can be streamed alone. There are as
 * many pieces as tokens. If several tokens share the bytes of a character, the whole character is
 * in the piece of its last token, and the pieces before are empty. Half a character (a lone
 * surrogate) has no UTF-8 form and becomes U+FFFD.
 */
export function piecesOf(given: string): readonly string[] {
  const text = given.toWellFormed()
  const tokens = [...inParts(text)].flatMap((part) => encode(part, asText))
  const pieces: string[] = []
  let from = 0
  let pending: number[] = []
  for (const token of tokens) {
    pending.push(token)
    const piece = decode(pending)
    if (text.startsWith(piece, from)) {
      pieces.push(piece)
      from += piece.length
      pending = []
    } else pieces.push('')
  }
  return pieces
}

/** A word longer than in any language. The time of counting grows with the square of its length. */
const longWord = /\S{257}|\s{257}/
const parts = /\s{0,256}\S{1,256}|\s{1,256}/gu

/**
 * The text unchanged, unless it has a run without a space (or of spaces) that no real text has.
 * Then it is cut into parts that are encoded one by one. One letter repeated a million times would
 * otherwise block the service for an hour.
 */
const inParts = (text: string): Iterable<string> => (longWord.test(text) ? partsOf(text) : [text])

function* partsOf(text: string): Iterable<string> {
  for (const [part] of text.matchAll(parts)) yield part
}
