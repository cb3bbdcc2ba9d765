import {
  countTokens as count,
  isWithinTokenLimit as countWithin,
  decode,
  encode,
} from 'gpt-tokenizer/encoding/cl100k_base'

/** Text such as `<|endoftext|>` in a prompt is text, not a control token. */
const asText = { disallowedSpecial: new Set<string>() }

/** Counts of texts seen before: load tools send the same prompt again and again. */
const known = new Map<string, number>()
const maxKnown = 10_000
const maxKnownLength = 4_096

/** A character is three bytes at most (four for two of them), and a token is at least one. */
const maxCharacterTokens = 3

/**
 * Tokens of a text by a real byte-pair encoding (cl100k_base).
 *
 * @param most beyond it counting ends, and the answer is some number above it: megabytes that no
 *   model takes would hold up everybody else for seconds
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
 * The text cut where its tokens end, so that each piece can be streamed alone. A character whose
 * bytes are spread over several tokens stays whole, in the piece of its last token; those before
 * are empty. There are as many pieces as tokens. Half a character (a lone surrogate) is no text of
 * UTF-8, and comes out as U+FFFD.
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

/** A word longer than any of a language; beyond it, counting takes the square of the length. */
const longWord = /\S{257}|\s{257}/
const parts = /\s{0,256}\S{1,256}|\s{1,256}/gu

/**
 * The text as it is, unless it has a run without a space (or of spaces) that no text has: then cut
 * into parts that are encoded one by one. A megabyte of one letter would hold up the service for
 * an hour.
 */
function inParts(text: string): Iterable<string> {
  return longWord.test(text) ? partsOf(text) : [text]
}

function* partsOf(text: string): Iterable<string> {
  for (const [part] of text.matchAll(parts)) yield part
}
