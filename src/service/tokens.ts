import { countTokens as count, decode, encode } from 'gpt-tokenizer/encoding/cl100k_base'

/** Text such as `<|endoftext|>` in a prompt is text, not a control token. */
const asText = { disallowedSpecial: new Set<string>() }

/** Counts of texts seen before: load tools send the same prompt again and again. */
const known = new Map<string, number>()
const maxKnown = 10_000
const maxKnownLength = 4_096

/** Tokens of a text by a real byte-pair encoding (cl100k_base). */
export function countTokens(text: string): number {
  const before = known.get(text)
  if (before !== undefined) return before
  const tokens = inParts(text).reduce((sum, part) => sum + count(part, asText), 0)
  if (text.length <= maxKnownLength) {
    if (known.size >= maxKnown) known.clear()
    known.set(text, tokens)
  }
  return tokens
}

/**
 * The text cut where its tokens end, so that each piece can be streamed alone. A character whose
 * bytes are spread over several tokens stays whole, in the piece of its last token; those before
 * are empty. There are as many pieces as tokens.
 */
export function piecesOf(text: string): readonly string[] {
  const tokens = inParts(text).flatMap((part) => encode(part, asText))
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
function inParts(text: string): readonly string[] {
  return longWord.test(text) ? (text.match(parts) ?? []) : [text]
}
