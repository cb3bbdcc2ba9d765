/** This many consecutive letters of a secret are a find, even if the rest is missing. */
const letters = 8
/** Letters of a piece. */
const pieceLength = 4

export interface Region {
  readonly start: number
  readonly end: number
}

interface Place {
  /** In lower case. */
  readonly secret: string
  readonly at: number
  /** Letters that are a find. */
  readonly needed: number
}

/** More pieces than this take more time to look up than the search of encodings takes. */
const mostForms = 50_000

/**
 * Finds parts of secrets in text, in capitals or not, whatever their number: pieces of four letters are looked up in a
 * table, and only where one fits are letters compared.
 *
 * A secret of fewer than eight letters occurs in other words. It is found only whole, and in plain text only as a word
 * of its own.
 */
export class KeyIndex {
  private readonly places = new Map<number, Place[]>()
  /** Also of encodings, as long as they are few. */
  private readonly forms = new Map<number, Place[]>()
  private shortest = Number.POSITIVE_INFINITY
  /** Secrets that are shorter than a piece. */
  private readonly tiny: string[] = []
  private table = new Uint8Array(1 << 12)
  private pieces = 0
  /** Whether `forms` has the encodings of all secrets. */
  private knowsForms = true
  /** Fewest letters that can be a find. */
  least = letters
  /** Letters of all secrets, in both cases. */
  readonly alphabet = new Uint8Array(256)

  add(given: string): void {
    for (const character of given.toLowerCase() + given.toUpperCase()) {
      this.alphabet[character.charCodeAt(0) & 255] = 1
    }
    if (given.length < pieceLength) return void this.tiny.push(given)
    const secret = folded(given)
    this.least = Math.min(this.least, secret.length)
    this.shortest = Math.min(this.shortest, secret.length)
    this.enter(this.places, secret, Math.min(letters, secret.length))
    this.enter(this.forms, secret, Math.min(letters, secret.length))
    // Three cases of thirteen encodings, each a bit longer than the secret.
    this.knowsForms &&= this.pieces + given.length * 39 <= mostForms
    if (!this.knowsForms) return
    for (const { form, needed } of formsOf(given)) this.enter(this.forms, folded(form), needed)
  }

  /** Letters of which a find in one encoding is noticed by `mayStandIn`; all of a secret if it knows the encodings. */
  get leastEncoded(): number {
    return this.knowsForms ? Math.min(this.shortest, 1000) : this.least
  }

  private enter(places: Map<number, Place[]>, secret: string, needed: number): void {
    const contexts = new Set<string>()
    for (let at = 0; at + pieceLength <= secret.length; at++) {
      const piece = pieceAt(secret, at)
      const known = places.get(piece)
      // Of a secret that repeats itself, one place of each kind finds every find that the others do. How far both ends of the secret are
      // is part of the kind: a find may begin or end there.
      const before = Math.min(at, letters)
      const context = `${before} ${secret.slice(at - before, at + pieceLength + letters)}`
      if (known !== undefined && contexts.has(context)) continue
      contexts.add(context)
      if (known !== undefined) known.push({ secret, at, needed })
      else places.set(piece, [{ secret, at, needed }])
      this.table[slotOf(piece) & (this.table.length - 1)] = 1
      this.pieces++
    }
    if (this.pieces * 8 > this.table.length && this.table.length < 1 << 20) {
      this.table = new Uint8Array(this.table.length * 4)
      for (const piece of this.forms.keys()) this.table[slotOf(piece) & (this.table.length - 1)] = 1
      for (const piece of this.places.keys())
        this.table[slotOf(piece) & (this.table.length - 1)] = 1
    }
  }

  /** Whether encodings are searched; those of a shorter secret mean nothing. */
  get mayBeEncoded(): boolean {
    return this.places.size > 0
  }

  /** @param isPlain whether a short secret must be a word of its own */
  regionsOf(text: string, isPlain: boolean, shortest: number): Region[] {
    const regions: Region[] = []
    // Every find has a piece at a multiple of this, so other positions are skipped.
    const stride = this.least - pieceLength + 1
    const mask = this.table.length - 1
    let until = 0
    for (let at = 0; at + pieceLength <= text.length; at += stride) {
      // Within a region, only what goes on behind its end is new, and it has a piece of its own there.
      if (at + pieceLength <= until) continue
      const piece = pieceAt(text, at)
      if (this.table[slotOf(piece) & mask] === 0) continue
      let furthest = until
      for (const place of this.places.get(piece) ?? []) {
        if (place.secret.length < shortest) continue
        const region = regionAround(text, at, place)
        if (region === null || (isPlain && !mayStand(text, region, place.secret.length))) continue
        regions.push(region)
        furthest = Math.max(furthest, region.end)
      }
      until = furthest
    }
    for (const secret of shortest > pieceLength ? [] : this.tiny) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
        const region = { start: at, end: at + secret.length }
        if (mayStand(text, region, secret.length)) regions.push(region)
      }
    }
    return regions
  }

  /** Whether ASCII bytes contain a find, plain or in one encoding; short secrets need not be words. */
  mayStandIn(bytes: Uint8Array, start: number, end: number): boolean {
    const { table } = this
    const stride = this.least - pieceLength + 1
    const mask = table.length - 1
    for (let at = start; at + pieceLength <= end; at += stride) {
      const piece =
        bytes[at]! |
        (bytes[at + 1]! << 8) |
        (bytes[at + 2]! << 16) |
        (bytes[at + 3]! << 24) |
        anyCase
      if (table[slotOf(piece) & mask] === 1 && this.isFind(piece, bytes, at, start, end))
        return true
    }
    return this.tiny.length > 0 && this.holdsTiny(bytes, start, end)
  }

  private isFind(piece: number, bytes: Uint8Array, found: number, start: number, end: number) {
    for (const { secret, at, needed } of this.forms.get(piece) ?? []) {
      let before = 0
      while (
        before < at &&
        found - before > start &&
        isAt(secret, at - before - 1, bytes[found - before - 1]!)
      )
        before++
      let after = 0
      while (
        at + after < secret.length &&
        found + after < end &&
        isAt(secret, at + after, bytes[found + after]!)
      )
        after++
      if (after >= pieceLength && before + after >= needed) return true
    }
    return false
  }

  private holdsTiny(bytes: Uint8Array, start: number, end: number): boolean {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
    return this.tiny.some((secret) => text.includes(secret))
  }
}

/** Where a piece stands in a table, before its mask. */
const slotOf = (piece: number) => Math.imul(piece, 0x9e3779b1) >>> 8

/** Sets the bit that distinguishes capitals, and some signs; letters are compared afterwards. */
const anyCase = 0x20202020

function pieceAt(text: string, at: number): number {
  return (
    (text.charCodeAt(at) & 255) |
    ((text.charCodeAt(at + 1) & 255) << 8) |
    ((text.charCodeAt(at + 2) & 255) << 16) |
    (text.charCodeAt(at + 3) << 24) |
    anyCase
  )
}

const fold = (code: number) => (code >= 65 && code <= 90 ? code | 32 : code)

const folded = (text: string) => text.replace(/[A-Z]/g, (capital) => capital.toLowerCase())

const isAt = (secret: string, at: number, code: number) => secret.charCodeAt(at) === fold(code)

/** The part of a secret around a piece in a text; null if it is too short for a find. */
function regionAround(text: string, found: number, { secret, at }: Place): Region | null {
  let start = found
  let from = at
  while (from > 0 && start > 0 && isAt(secret, from - 1, text.charCodeAt(start - 1))) {
    from--
    start--
  }
  let end = found
  let to = at
  while (to < secret.length && end < text.length && isAt(secret, to, text.charCodeAt(end))) {
    to++
    end++
  }
  // Other letters may give the same number.
  if (end - found < pieceLength) return null
  return to - from >= Math.min(letters, secret.length) ? { start, end } : null
}

function mayStand(text: string, { start, end }: Region, length: number): boolean {
  if (length >= letters) return true
  return !/[A-Za-z0-9]/.test(`${text[start - 1] ?? ''}${text[end] ?? ''}`)
}

/** Encodings of a secret, and how many of their letters are surely part of a find. */
function formsOf(given: string): readonly { readonly form: string; readonly needed: number }[] {
  const cases = [...new Set([given, given.toLowerCase(), given.toUpperCase()])]
  const needed = (bits: number) => Math.floor((Math.min(letters, given.length) * 8) / bits)
  return cases.flatMap((secret) => {
    const bytes = Buffer.from(secret)
    const behind = (before: number) => Buffer.concat([Buffer.alloc(before), bytes])
    return [
      { form: bytes.toString('hex'), needed: needed(4) },
      ...[0, 1, 2].flatMap((before) =>
        (['base64', 'base64url'] as const).map((coding) => ({
          form: behind(before)
            .toString(coding)
            .replace(/=+$/, '')
            .slice(before === 0 ? 0 : before + 1),
          needed: needed(6),
        })),
      ),
      ...[0, 1, 2, 3, 4].map((before) => ({
        form: base32Of(behind(before)).slice(Math.ceil((before * 8) / 5)),
        needed: needed(5),
      })),
    ]
  })
}

function base32Of(bytes: Uint8Array): string {
  let text = ''
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const at = bit >> 3
    const two = (bytes[at]! << 8) | (bytes[at + 1] ?? 0)
    text += 'abcdefghijklmnopqrstuvwxyz234567'[(two >> (11 - (bit & 7))) & 31]!
  }
  return text
}
