import { hashText, seededRandom } from './random.ts'
import type { GenerationRequest } from './request.ts'
import { piecesOf } from './tokens.ts'
import { openings, words } from './vocabulary.ts'

/** One completion: its text in pieces of one token each. */
export interface Choice {
  readonly reasoning: readonly string[]
  readonly pieces: readonly string[]
  readonly finish: 'stop' | 'length'
  /** The stop sequence that ended it; null for none. */
  readonly stopSequence: string | null
  /** What an upstream sent: its message, unless it was a stream, and why it ended. */
  readonly relayed?: { readonly message: object | null; readonly finishReason: string }
}

export interface Answer {
  readonly choices: readonly Choice[]
  readonly promptTokens: number
  readonly completionTokens: number
}

/** `Repeat after me: …`, `Say: …`, `Echo: …`: the answer is the rest. */
const repeat =
  /^\s*(?:please\s+)?(?:repeat|say|echo|print|output|reply with)\b[^:\n]*:\s*([\s\S]+)$/i
const count = /\bcount\b[^\d]*(\d+)\s*(?:to|through|-)\s*(\d+)/i

/**
 * What the model wants to say, before limits and stop sequences: made from the seed and the
 * request alone, so that the same request, streamed or not, gets the same words.
 *
 * @param lengthTokens how long a made-up answer wants to be
 * @param seed of the made-up words
 */
export function intendedText(
  request: GenerationRequest,
  lengthTokens: number,
  seed: number,
): readonly string[] {
  const last = request.messages.findLast((message) => message.role === 'user')?.text ?? ''
  const echo = repeat.exec(last)
  if (echo !== null) return piecesOf(echo[1]!.trim().replace(/^(["'])([\s\S]*)\1$/, '$2'))
  const range = count.exec(last)
  if (range !== null) {
    const [from, to] = [Number(range[1]), Number(range[2])]
    if (from <= to && to - from <= 10_000) {
      const numbers = Array.from({ length: to - from + 1 }, (_, step) => from + step)
      return piecesOf(numbers.join(', '))
    }
  }
  return prose(lengthTokens, seed)
}

/** A number that is the same for the same request, however it is delivered. */
export function requestHash(request: GenerationRequest, seed: number): number {
  let hash = hashText(request.model, seed)
  if (request.system !== null) hash = hashText(request.system, hash)
  for (const { role, text } of request.messages) hash = hashText(text, hashText(role, hash))
  return hash
}

const spacedOpenings = openings.map((word) => ` ${word}`)
const spacedWords = words.map((word) => ` ${word}`)

/** Texts made lately: load tools send the same prompt again and again. By their seeds. */
const known = new Map<number, readonly string[]>()
const maxKnown = 100
const maxKnownTokens = 1_024

/** Sentences of one-token words; exactly `tokens` pieces, the same for the same seed. */
export function prose(tokens: number, seed: number): readonly string[] {
  const before = known.get(seed)
  if (before?.length === tokens) return before
  const pieces = madeUp(tokens, seed)
  if (tokens <= maxKnownTokens) {
    if (known.size >= maxKnown) known.clear()
    known.set(seed, pieces)
  }
  return pieces
}

function madeUp(tokens: number, seed: number): readonly string[] {
  const random = seededRandom(seed)
  const pieces = new Array<string>(tokens)
  let left = 0
  for (let at = 0; at < tokens; at++) {
    if (left === 0) {
      left = 6 + Math.floor(random() * 8)
      const list = at === 0 ? openings : spacedOpenings
      pieces[at] = list[Math.floor(random() * list.length)]!
    } else if (--left === 0) pieces[at] = '.'
    else pieces[at] = spacedWords[Math.floor(random() * spacedWords.length)]!
  }
  return pieces
}

let joined: { readonly pieces: readonly string[]; readonly text: string } = { pieces: [], text: '' }

/** Pieces as one text; that of the last pieces is kept, since the next may be the same. */
export function textOf(pieces: readonly string[]): string {
  if (joined.pieces !== pieces) joined = { pieces, text: pieces.join('') }
  return joined.text
}

/**
 * Cuts a text where a stop sequence or the limit ends it; the stop that comes first wins.
 *
 * @param includeStop whether the stop sequence itself stays in the output
 */
export function limited(
  intended: readonly string[],
  maxTokens: number,
  stops: readonly string[],
  includeStop: boolean,
): Omit<Choice, 'reasoning'> {
  const cut = stops.length === 0 ? null : firstStop(intended, stops)
  if (cut !== null && cut.tokens <= maxTokens) {
    const kept = cut.at + (includeStop ? cut.stop.length : 0)
    return { pieces: upTo(intended, kept), finish: 'stop', stopSequence: cut.stop }
  }
  if (intended.length > maxTokens) {
    return { pieces: intended.slice(0, maxTokens), finish: 'length', stopSequence: null }
  }
  return { pieces: intended, finish: 'stop', stopSequence: null }
}

/** Where the earliest stop sequence begins, and how many tokens it takes to complete it. */
function firstStop(pieces: readonly string[], stops: readonly string[]) {
  const text = pieces.join('')
  let first: { at: number; stop: string } | null = null
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop)
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop }
  }
  if (first === null) return null
  const end = first.at + first.stop.length
  let length = 0
  let tokens = 0
  while (length < end) length += pieces[tokens++]!.length
  return { ...first, tokens }
}

/** The pieces of the first `length` characters. */
function upTo(pieces: readonly string[], length: number): readonly string[] {
  const kept: string[] = []
  let left = length
  for (const piece of pieces) {
    if (left <= 0) break
    kept.push(piece.slice(0, left))
    left -= piece.length
  }
  return kept
}
