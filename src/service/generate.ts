import { isObject } from '../user/json.ts'
import { hashText, seededRandom } from './random.ts'
import type { GenerationRequest } from './request/generation-request.ts'
import { piecesOf } from './tokens.ts'
import { jsonOf } from './tool-call.ts'
import { openings, words } from './vocabulary.ts'

/** One completion. Its text is in pieces of one token each. */
export interface Choice {
  readonly reasoning: readonly string[]
  readonly pieces: readonly string[]
  readonly finish: 'stop' | 'length'
  /** The stop sequence that ended it; null if none did. */
  readonly stopSequence: string | null
  /** The tool that it calls. The pieces are then the arguments. */
  readonly tool?: string
  /** From an upstream: the finish reason, and the message if there was no stream. */
  readonly relayed?: { readonly message: object | null; readonly finishReason: string }
}

export interface Answer {
  readonly choices: readonly Choice[]
  readonly promptTokens: number
  readonly completionTokens: number
}

/** After `Repeat after me: …`, `Say: …` or `Echo: …`, the answer is the rest. */
const repeat =
  /^\s*(?:please\s+)?(?:repeat|say|echo|print|output|reply with)\b[^:\n]*:\s*([\s\S]+)$/i
/** `List every code`: the answer has each `code 123456` of the text. */
const everyCode = /\blist every code\b/i
const code = /\bcode (\d{6})\b/gi
const count = /\bcount\b[^\d]*(\d+)\s*(?:to|through|-)\s*(\d+)/i

/**
 * The model's answer before limits and stop sequences. It depends on the seed and the request only,
 * so the same request gets the same words, streamed or not.
 *
 * @param lengthTokens the intended length of a made-up answer
 * @param seed of the made-up words
 */
export function intendedText(
  request: GenerationRequest,
  lengthTokens: number,
  seed: number,
): readonly string[] {
  const { output } = request
  if (output.kind === 'schema') return piecesOf(jsonOf(output.schema, seed))
  const text = intendedWords(request, lengthTokens, seed)
  return output.kind === 'object' ? piecesOf(asObject(text.join(''))) : text
}

/** The text itself if it is a JSON object, or one that holds it. */
function asObject(text: string): string {
  try {
    if (isObject(JSON.parse(text))) return text
  } catch {
    // Words, which most answers are.
  }
  return JSON.stringify({ text })
}

function intendedWords(
  request: GenerationRequest,
  lengthTokens: number,
  seed: number,
): readonly string[] {
  const last = request.messages.findLast((message) => message.role === 'user')?.text ?? ''
  const echo = repeat.exec(last)
  if (echo !== null) return piecesOf(echo[1]!.trim().replace(/^(["'])([\s\S]*)\1$/, '$2'))
  if (everyCode.test(last))
    return piecesOf([...last.matchAll(code)].map(([, digits]) => digits).join(', '))
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

/** A number that is equal for equal requests, streamed or not. */
export function requestHash(request: GenerationRequest, seed: number): number {
  let hash = hashText(request.model, seed)
  if (request.system !== null) hash = hashText(request.system, hash)
  for (const { role, text } of request.messages) hash = hashText(text, hashText(role, hash))
  for (const image of request.images) hash = hashText(image, hash)
  return hash
}

const spacedOpenings = openings.map((word) => ` ${word}`)
const spacedWords = words.map((word) => ` ${word}`)

/** Recent texts by their seeds: load tools send the same prompt again and again. */
const known = new Map<number, readonly string[]>()
const maxKnown = 100
const maxKnownTokens = 1_024

/** Sentences of one-token words: exactly `tokens` pieces, always the same for one seed. */
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

/** The pieces as one text. The last result is kept, because the next pieces may be the same. */
export function textOf(pieces: readonly string[]): string {
  if (joined.pieces !== pieces) joined = { pieces, text: pieces.join('') }
  return joined.text
}

/**
 * Cuts a text at a stop sequence or the limit, whichever comes first.
 *
 * @param includeStop whether the output keeps the stop sequence
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

/** Where the earliest stop sequence begins, and the number of tokens that complete it. */
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
