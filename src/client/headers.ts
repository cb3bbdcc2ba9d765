/**
 * Header values by name, read from bytes: one pass over the head, no object and no string for the
 * headers that nobody asked for (strings of all headers cost more than the rest of a request).
 */
export class HeaderReader {
  /** Where each value lies, in the order of the names; -1 for absent. White space is cut off. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** How often each came. */
  readonly counts: Int32Array
  private readonly byLength: { readonly name: Buffer; readonly slot: number }[][] = []

  /** @param names in lower case */
  constructor(names: readonly string[]) {
    this.starts = new Int32Array(names.length)
    this.ends = new Int32Array(names.length)
    this.counts = new Int32Array(names.length)
    for (const [slot, text] of names.entries()) {
      const name = Buffer.from(text, 'latin1')
      while (this.byLength.length <= name.length) this.byLength.push([])
      this.byLength[name.length]!.push({ name, slot })
    }
  }

  /** Reads the lines `Name: value\r\n` of `head[start..end)`; the first of equal names is kept. */
  read(head: Buffer, start: number, end: number): void {
    this.starts.fill(-1)
    this.counts.fill(0)
    let line = start
    while (line < end) {
      let colon = line
      while (colon < end && head[colon] !== 58) colon++
      let next = colon
      while (next < end && head[next] !== 10) next++
      const names = this.byLength[colon - line]
      if (names !== undefined) {
        for (let at = 0; at < names.length; at++) {
          if (sameName(head, line, names[at]!.name)) {
            this.keep(names[at]!.slot, head, colon + 1, next)
            break
          }
        }
      }
      line = next + 1
    }
  }

  private keep(slot: number, head: Buffer, from: number, to: number): void {
    this.counts[slot]!++
    if (this.starts[slot] !== -1) return
    let start = from
    let end = to
    while (start < end && isBlank(head[start]!)) start++
    while (end > start && isBlank(head[end - 1]!)) end--
    this.starts[slot] = start
    this.ends[slot] = end
  }
}

/** Upper case letters differ from lower case ones by one bit; digits and `-` have it set. */
function sameName(head: Buffer, at: number, name: Buffer): boolean {
  for (let index = 0; index < name.length; index++) {
    const byte = head[at + index]!
    const expected = name[index]!
    if (byte !== expected && (byte < 65 || byte > 90 || (byte | 32) !== expected)) return false
  }
  return true
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13
}

/**
 * A decimal number: digits, with `-` before and a fraction after if `fraction` allows one.
 *
 * @returns NaN for anything else, the empty value too
 */
export function decimalOf(head: Buffer, start: number, end: number, fraction: boolean): number {
  let at = start
  const negative = at < end && head[at] === 45
  if (negative) at++
  const digits = at
  let value = 0
  while (at < end && head[at]! >= 48 && head[at]! <= 57) value = value * 10 + head[at++]! - 48
  if (at === digits) return Number.NaN
  if (at < end) {
    if (!fraction || head[at] !== 46 || at + 1 === end) return Number.NaN
    for (let rest = at + 1; rest < end; rest++) {
      if (head[rest]! < 48 || head[rest]! > 57) return Number.NaN
    }
    return Number(head.toString('latin1', start, end))
  }
  return negative ? -value : value
}

/** Whether the value holds the word, letters compared without case: for media types. */
export function startsWith(head: Buffer, start: number, end: number, word: Buffer): boolean {
  return end - start >= word.length && sameName(head, start, word)
}

/**
 * The `Date` header in Unix seconds. A service sends the same 29 bytes for a whole second, so
 * the last answer is kept and most calls are a comparison.
 */
export class DateReader {
  private readonly last = Buffer.alloc(29)
  private lastS = Number.NaN

  /** @returns NaN for anything that is not a date */
  read(head: Buffer, start: number, end: number): number {
    if (end - start === 29) {
      // Seconds change most often, so compare from the end.
      let at = 28
      while (at >= 0 && head[start + at] === this.last[at]) at--
      if (at < 0) return this.lastS
      head.copy(this.last, 0, start, end)
      this.lastS = Date.parse(head.toString('latin1', start, end)) / 1000
      return this.lastS
    }
    return Date.parse(head.toString('latin1', start, end)) / 1000
  }
}
