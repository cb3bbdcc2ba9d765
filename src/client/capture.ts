/** How a key stands in what a response echoed. */
const keyMark = '[key]'

/** Every occurrence of the key gone, also as it stands in JSON strings and in URLs. */
export function withoutKey(text: string, key: string): string {
  // No form of a key is shorter than the key, and most texts are.
  if (key === '' || text.length < key.length) return text
  let clean = text
  for (const form of formsOf(key)) {
    if (clean.includes(form)) clean = clean.replaceAll(form, keyMark)
  }
  return clean
}

/** Whether the bytes may hold the key in one of its forms; said of bytes, for it is asked often. */
export function mayHoldKey(bytes: Buffer, start: number, end: number, key: string): boolean {
  const { length } = key
  if (key === '' || end - start < length) return false
  if (formsOf(key).length > 1) return true
  // From the last byte of each place on (Horspool 1980): most of them are not even looked at.
  for (let at = start + length - 1; at < end; at += lastSkips[bytes[at]!]!) {
    let same = 0
    while (same < length && bytes[at - same] === key.charCodeAt(length - 1 - same)) same++
    if (same === length) return true
  }
  return false
}

let lastKey = ''
let lastForms: readonly string[] = []
/** By the byte under its last one: how far the key can be moved without missing itself. */
const lastSkips = new Uint32Array(256)

/** Most calls ask for the same few keys, one after the other. */
function formsOf(key: string): readonly string[] {
  if (key !== lastKey) {
    lastKey = key
    lastForms = [...new Set([key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)])]
    lastSkips.fill(key.length)
    for (let at = 0; at < key.length - 1; at++) lastSkips[key.charCodeAt(at)] = key.length - 1 - at
  }
  return lastForms
}

/** What came back, word for word except for the key. */
export interface Captured {
  /** Header lines as they came, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  readonly truncated: boolean
}

/** Keeps a response while it comes: its head, and its body up to a bound. */
export class Capture {
  private readonly key: string
  private readonly maxBytes: number
  private readonly headers: string
  private readonly pieces: Buffer[] = []
  private bytes = 0
  private missed = false

  constructor(key: string, maxBytes: number, head: Buffer, start: number, end: number) {
    this.key = key
    this.maxBytes = maxBytes
    this.headers = head.toString('latin1', start, end).replaceAll('\r\n', '\n').trimEnd()
  }

  add(bytes: Buffer, start: number, end: number): void {
    // A key that the bound cuts in two would not be recognised, so keep that much more.
    const room = this.maxBytes + this.key.length * 3 - this.bytes
    const kept = Math.min(end - start, room)
    if (kept > 0) {
      this.pieces.push(Buffer.from(bytes.subarray(start, start + kept)))
      this.bytes += kept
    }
    if (kept < end - start) this.missed = true
  }

  finish(): Captured {
    const whole = withoutKey(Buffer.concat(this.pieces).toString('utf8'), this.key)
    return {
      headers: withoutKey(this.headers, this.key),
      body: whole.slice(0, this.maxBytes),
      truncated: this.missed || whole.length > this.maxBytes,
    }
  }
}
