import { viewOf } from '../attempt/bytes.ts'
import { mayBeEncodedAgain } from './encoded-again.ts'
import { layers, unescaped } from './unescaped.ts'

/** Replaces a key in text. */
const keyMark = '[key]'
/** Replaces a text that is encoded more deeply than the search goes. */
const notKept = '[not kept: it is encoded too often to be sure that the key is not in it]'

/** Keys in lower case that users send to a service without keys; they are not secret. */
const placeholders = new Set(['', 'none', 'empty', 'dummy', 'no-key', 'sk-no-key-required'])

/** This many consecutive letters of a key are redacted, even if the rest is missing. */
const letters = 8
/** Nested encodings that are followed. */
const maxDepth = 12
/** Characters searched for each character of a text, over all its decodings. */
const maxWork = 64

interface Region {
  readonly start: number
  readonly end: number
}

/**
 * The text without any eight consecutive letters of the key, plain or encoded: JSON escapes, percent
 * encoding, character references, base64 or hex, nested in any order.
 *
 * @returns null if the text is encoded too deeply to be sure
 */
export function redacted(text: string, key: string): string | null {
  const matcher = matcherOf(key)
  if (!matcher.isSecret || text === '') return text
  const regions = new Search(matcher, text.length).regionsOf(text, 0)
  if (regions === null) return null
  let clean = ''
  let from = 0
  for (const { start, end } of merged(regions)) {
    clean += text.slice(from, start) + keyMark
    from = end
  }
  return from === 0 ? text : clean + text.slice(from)
}

/** The same, with a note instead of null. */
export function withoutKey(text: string, key: string): string {
  return redacted(text, key) ?? notKept
}

/** Whether the bytes may contain the key. It runs for each response, so it examines few of them. */
export function mayHoldKey(bytes: Buffer, start: number, end: number, key: string): boolean {
  const length = end - start
  const matcher = matcherOf(key)
  if (!matcher.isSecret || length < matcher.least) return false
  const view = viewOf(bytes)
  if (length >= 4) {
    // Four bytes at a time without a branch; the last four may overlap the previous four.
    let found = escapesIn(view.getInt32(end - 4, true))
    for (let at = start; at < end - 4; at += 4) found |= escapesIn(view.getInt32(at, true))
    if ((found & 0x80808080) !== 0) return true
  }
  if (matcher.mayStandIn(view, bytes, start, end)) return true
  if (length < matcher.leastAgain || !matcher.mayBeEncoded) return false
  return mayBeEncodedAgain(bytes, start, end, key.length, matcher.leastAgain)
}

/** Sets the high bit of each byte that may be `%`, `&` or a backslash (Warren, Hacker's Delight, 6-1). */
function escapesIn(four: number): number {
  // `%` and `&` share all but the last two bits, with no other character of ids.
  const percent = (four | 0x03030303) ^ 0x27272727
  const backslash = four ^ 0x5c5c5c5c
  return ((percent - 0x01010101) & ~percent) | ((backslash - 0x01010101) & ~backslash)
}

/** Searches for one key in a text and in all its decodings. */
class Search {
  private readonly matcher: KeyMatcher
  private work: number
  /** Decodings that were searched, because several paths may lead to the same one. */
  private readonly seen = new Set<string>()

  constructor(matcher: KeyMatcher, length: number) {
    this.matcher = matcher
    this.work = maxWork * (length + 256)
  }

  /** @returns null if there is too much to decode */
  regionsOf(text: string, depth: number): readonly Region[] | null {
    this.work -= text.length
    if (this.work < 0) return null
    const regions = this.matcher.regionsOf(text)
    if (!this.matcher.mayBeEncoded) return regions
    const { runs, cleanRuns } = this.matcher
    runs.lastIndex = 0
    for (const { 0: run, index } of text.matchAll(runs)) {
      if (cleanRuns.has(run)) continue
      const holds = this.runHolds(run.replace(/[\r\n=]/g, ''), depth)
      if (holds === null) return null
      if (holds) regions.push({ start: index, end: index + run.length })
      else this.matcher.keepClean(run)
    }
    for (const layer of this.matcher.layers) {
      const view = unescaped(text, layer)
      if (view === null || this.seen.has(view.text)) continue
      if (depth === maxDepth) return null
      if (this.matcher.layers.length > 1) this.seen.add(view.text)
      const inner = this.regionsOf(view.text, depth + 1)
      if (inner === null) return null
      for (const { start, end } of inner) {
        regions.push({ start: view.startOf(start), end: view.startOf(end) })
      }
    }
    return regions
  }

  private runHolds(run: string, depth: number): boolean | null {
    for (const decoded of decodingsOf(run, this.matcher.minHex)) {
      if (depth === maxDepth) return null
      const inner = this.regionsOf(decoded, depth + 1)
      if (inner === null) return null
      if (inner.length > 0) return true
    }
    return false
  }
}

/** The alignment of a run is unknown, so each is tried. */
function* decodingsOf(run: string, minHex: number): Generator<string> {
  for (const { 0: hex } of run.matchAll(/[0-9a-fA-F]+/g)) {
    if (hex.length < minHex) continue
    yield Buffer.from(hex, 'hex').toString('latin1')
    yield Buffer.from(hex.slice(1), 'hex').toString('latin1')
  }
  for (let from = 0; from < 4; from++) {
    yield Buffer.from(run.slice(from), 'base64').toString('latin1')
  }
}

/** One key, prepared for the search: the positions of its pieces of four letters, plain and encoded. */
class KeyMatcher {
  readonly key: string
  readonly isSecret: boolean
  /** Consecutive letters that count as a find. */
  readonly least: number
  private readonly gram: number
  /** Every find has a piece at a multiple of this, so other positions are skipped. */
  private readonly stride: number
  private readonly places = new Map<number, number[]>()
  /** Positions of pieces in the key and its encodings; `table` rejects most bytes without a look-up. */
  private readonly pieces = new Map<number, Place[]>()
  private readonly table = new Uint8Array(16_384)

  /** Matches possible base64 (plain or URL) or hex that is long enough; its lines may be folded. */
  readonly runs: RegExp
  /** Runs without the key, because words and ids repeat. */
  readonly cleanRuns = new Set<string>()
  readonly minHex: number
  /**
   * Shortest base64 of a key with so many escaped letters that no eight consecutive ones remain; a key that
   * is encoded three times is longer.
   */
  readonly leastAgain: number
  /** Kinds of escapes to decode: all at once, or also separately if the key has a character of an escape. */
  readonly layers: readonly RegExp[]

  constructor(key: string) {
    this.key = key
    this.isSecret = !placeholders.has(key.toLowerCase())
    this.least = Math.min(letters, key.length)
    this.gram = Math.min(4, this.least)
    this.stride = this.least - this.gram + 1
    this.minHex = this.least * 2
    const escaped = Math.max(1, Math.ceil((key.length - 7) / 8))
    this.leastAgain = Math.ceil(((key.length + escaped) * 4) / 3)
    this.layers = /[\\%&]/.test(key) ? layers : layers.slice(0, 1)
    // Characters of base64 that `least` letters fill completely.
    const minEncoded = Math.floor((this.least * 8) / 6)
    this.runs = new RegExp(`[\\w+/-](?:[\\r\\n]*[\\w+/=-]){${minEncoded - 1},}`, 'g')
    for (let at = 0; at + this.gram <= key.length; at++) {
      const piece = pieceAt(key, at, this.gram)
      const places = this.places.get(piece)
      if (places === undefined) this.places.set(piece, [at])
      else places.push(at)
    }
    for (const form of formsOf(key)) {
      for (let at = 0; at + 4 <= form.length; at++) {
        const piece = form.readInt32LE(at)
        const places = this.pieces.get(piece)
        if (places === undefined) this.pieces.set(piece, [{ form, at }])
        else places.push({ form, at })
        this.table[placeOf(piece)] = 1
      }
    }
  }

  /** A shorter key occurs in so many texts that its encodings mean nothing. */
  get mayBeEncoded(): boolean {
    return this.least >= 4
  }

  keepClean(run: string): void {
    if (run.length > 64) return
    if (this.cleanRuns.size >= 10_000) this.cleanRuns.clear()
    this.cleanRuns.add(run)
  }

  regionsOf(text: string): Region[] {
    const regions: Region[] = []
    const { key, gram, stride } = this
    for (let at = 0; at + gram <= text.length; at += stride) {
      const places = this.places.get(pieceAt(text, at, gram))
      if (places === undefined) continue
      for (const place of places) {
        // Two-byte letters may give the same number.
        if (!text.startsWith(key.slice(place, place + gram), at)) continue
        let before = 0
        while (before < place && before < at && text[at - before - 1] === key[place - before - 1]) {
          before++
        }
        let length = before + gram
        const start = at - before
        const from = place - before
        while (from + length < key.length && text[start + length] === key[from + length]) length++
        if (length >= this.least) regions.push({ start, end: start + length })
      }
    }
    return regions
  }

  /**
   * Whether bytes without escapes contain a find, plain or encoded up to twice. An encoding is longer than
   * its text, so it matches for at least as many bytes as a find has letters.
   */
  mayStandIn(view: DataView, bytes: Buffer, start: number, end: number): boolean {
    if (this.gram < 4) return bytes.toString('latin1', start, end).includes(this.key)
    for (let at = start; at + 4 <= end; at += this.stride) {
      const piece = view.getInt32(at, true)
      if (this.table[placeOf(piece)] === 0) continue
      for (const place of this.pieces.get(piece) ?? []) {
        if (commonBytes(place, bytes, at, start, end) >= this.least) return true
      }
    }
    return false
  }
}

/** A piece of four bytes in a form of the key. */
interface Place {
  readonly form: Buffer
  readonly at: number
}

/** Number of bytes around a piece that match its form. */
function commonBytes(
  { form, at }: Place,
  bytes: Buffer,
  found: number,
  start: number,
  end: number,
): number {
  let before = 0
  while (
    before < at &&
    before < found - start &&
    form[at - before - 1] === bytes[found - before - 1]
  )
    before++
  let after = 0
  while (
    at + after < form.length &&
    found + after < end &&
    form[at + after] === bytes[found + after]
  )
    after++
  return before + after
}

/** Letters of a text as a number. */
function pieceAt(text: string, at: number, length: number): number {
  let piece = 0
  for (let letter = at; letter < at + length; letter++) {
    piece = (piece << 8) ^ text.charCodeAt(letter)
  }
  return piece
}

function placeOf(piece: number): number {
  return Math.imul(piece, 0x9e3779b1) >>> 18
}

/** The key, and its encodings once and twice. */
function formsOf(key: string): readonly Buffer[] {
  const once = encodingsOf(key)
  return [...new Set([key, ...once, ...once.flatMap(encodingsOf)])].map((form) => Buffer.from(form))
}

/** The characters of each encoding that do not depend on the surrounding text. */
function encodingsOf(text: string): readonly string[] {
  const hex = Buffer.from(text).toString('hex')
  const base64 = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    const whole = Math.floor((bytes.length * 8) / 6)
    const skipped = before === 0 ? 0 : before + 1
    return (['base64', 'base64url'] as const).map((coding) =>
      bytes.toString(coding).slice(skipped, whole),
    )
  })
  return [hex, hex.toUpperCase(), ...base64]
}

const matchers = new Map<string, KeyMatcher>()
let last: KeyMatcher | null = null

/** Cached, because a run has few keys and repeats each many times. */
function matcherOf(key: string): KeyMatcher {
  if (last?.key === key) return last
  last = matchers.get(key) ?? new KeyMatcher(key)
  if (matchers.size >= 1000) matchers.clear()
  matchers.set(key, last)
  return last
}

function merged(regions: readonly Region[]): readonly Region[] {
  const whole: { start: number; end: number }[] = []
  for (const { start, end } of [...regions].sort((a, b) => a.start - b.start)) {
    const before = whole.at(-1)
    if (before !== undefined && start <= before.end) before.end = Math.max(before.end, end)
    else whole.push({ start, end })
  }
  return whole
}
