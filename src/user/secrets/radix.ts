import type { Region } from './key-index.ts'

/** A way to write bytes as digits of some bits each: base64, base32, hex, bits. */
export interface Radix {
  readonly bits: number
  /** Digits at which a byte may begin, since the alignment of a run is unknown. */
  readonly phases: number
  /** The value of each byte as a digit; `skipped` between digits, `breaks` for any other. */
  readonly values: Int8Array
}

const breaks = -2
const skipped = -1

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()
const space = ' \t\r\n'

/** @param alphabets digits from zero up, in each spelling */
function radix(bits: number, alphabets: readonly string[], between: string): Radix {
  const values = new Int8Array(256).fill(breaks)
  for (const character of between) values[character.charCodeAt(0)] = skipped
  for (const alphabet of alphabets) {
    for (const [value, digit] of [...alphabet].entries()) values[digit.charCodeAt(0)] = value
  }
  return { bits, phases: bits === 6 ? 4 : bits === 4 ? 2 : 8, values }
}

/** Base32 is written in one case. The x of hex is that of a prefix, as in `0x73`, whose zero is no digit. */
export const radixes: readonly Radix[] = [
  radix(6, [`${upper}${lower}0123456789+/`, `${upper}${lower}0123456789-_`], `${space}=`),
  radix(4, ['0123456789ABCDEF', '0123456789abcdef'], `${space}:-,;._|"'[]~xX`),
  radix(5, [`${upper}234567`], `${space}=`),
  radix(5, [`${lower}234567`], `${space}=`),
  radix(1, ['01'], `${space},;._|-`),
]

/** A run of digits, and the place of each. */
export interface DigitRun {
  digits: Uint8Array
  places: Int32Array
  length: number
}

/** A run with room for some digits, to be reused. It grows when a longer one is found. */
export const digitRun = (most: number): DigitRun => ({
  digits: new Uint8Array(most),
  places: new Int32Array(most),
  length: 0,
})

/**
 * Digits of base64 and base32 go on after white space only where lines are folded: next to a line of so many digits. Words
 * of prose are shorter.
 */
const shortestLine = 8

/**
 * Reads the next run of digits that is long enough for some bytes.
 *
 * @param from where to look; no earlier digit belongs to the run
 * @returns the index after the run; -1 if there is none
 */
export function nextRun(
  bytes: Uint8Array,
  from: number,
  end: number,
  radix: Radix,
  leastBytes: number,
  into: DigitRun,
): number {
  const { bits, values } = radix
  const least = Math.ceil((leastBytes * 8) / bits)
  const folds = bits >= 5
  let readUntil = from
  for (let first = from; first + least <= end; first++) {
    // The last byte that breaks a run makes each run before it too short.
    const unread = Math.max(first, readUntil)
    let at = first + least - 1
    readUntil = at + 1
    while (at >= unread && values[bytes[at]!]! !== breaks) at--
    if (at >= unread) {
      first = at
      continue
    }
    let last = lineEnd(bytes, first, end, values, folds)
    if (last === first) continue
    for (let line = last - first; folds; ) {
      const next = afterSpace(bytes, last, end)
      const to = lineEnd(bytes, next, end, values, folds)
      if (next === last || to === next || Math.max(line, to - next) < shortestLine) break
      line = to - next
      last = to
    }
    if (last - first >= least) {
      readDigits(bytes, first, last, radix, into)
      if (into.length >= least) return last
    }
    first = last
  }
  return -1
}

const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13)

/** Where characters of digits end; white space ends a line that may be folded. */
function lineEnd(
  bytes: Uint8Array,
  at: number,
  end: number,
  values: Int8Array,
  folds: boolean,
): number {
  let last = at
  while (last < end && values[bytes[last]!]! !== breaks && !(folds && isSpace(bytes[last]!))) last++
  return last
}

function afterSpace(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && isSpace(bytes[next]!)) next++
  return next
}

function readDigits(
  bytes: Uint8Array,
  first: number,
  last: number,
  { bits, values }: Radix,
  into: DigitRun,
): void {
  if (into.places.length < last - first) Object.assign(into, digitRun(last - first))
  const { digits, places } = into
  let length = 0
  for (let at = first; at < last; at++) {
    const value = values[bytes[at]!]!
    if (value >= 0) {
      places[length] = at
      digits[length++] = value
    } else if (bits === 4 && length > 0 && digits[length - 1] === 0 && (bytes[at]! | 32) === 120) {
      length--
    }
  }
  into.length = length
}

/** Values of `textTable`. */
const isText = 1
/** May be one of the three bytes of a full-width letter in UTF-8. */
const mayBeWide = 2

/** What each byte may be: `text`, or a part of a full-width letter. */
export const textTable = (isByteOfText: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) =>
    isByteOfText(byte) ? isText : byte === 0xef || (byte >= 0x80 && byte < 0xc0) ? mayBeWide : 0,
  )

/** Finds stretches of bytes in a run of digits that may be text. It reads few of the others. */
export class TextScan {
  /** The stretch that was found, of the bytes that begin at this digit. */
  from = 0
  to = 0
  private readonly table: Uint8Array
  private run!: DigitRun
  private radix!: Radix
  private least = 0
  private phase = 0
  private length = 0

  /** @param table what each byte may be */
  constructor(table: Uint8Array) {
    this.table = table
  }

  /** @param least bytes of a stretch that counts */
  start(run: DigitRun, radix: Radix, least: number): void {
    this.run = run
    this.radix = radix
    this.least = least
    this.begin(0)
  }

  /** Goes on with the bytes that begin at a digit. */
  private begin(phase: number): void {
    this.phase = phase
    this.to = 0
    this.length = Math.floor(((this.run.length - phase) * this.radix.bits) / 8)
  }

  /** Finds the next stretch. */
  next(): boolean {
    const { least } = this
    for (; this.phase < this.radix.phases; this.begin(this.phase + 1)) {
      for (let from = this.to; from + least <= this.length; ) {
        // The last byte that is no text makes each stretch before it too short.
        let at = from + least - 1
        while (at >= from && this.isText(at)) at--
        if (at < from) {
          let to = from + least
          while (to < this.length && this.isText(to)) to++
          this.from = from
          this.to = to
          return true
        }
        from = at + 1
      }
    }
    return false
  }

  private isText(nth: number): boolean {
    const byte = this.byteAt(nth)
    const kind = this.table[byte]!
    if (kind !== mayBeWide) return kind === isText
    return byte === 0xef ? this.isWide(nth) : this.isWide(nth - 1) || this.isWide(nth - 2)
  }

  /** Whether a full-width letter begins here, in UTF-8. */
  private isWide(nth: number): boolean {
    if (nth < 0 || nth + 1 >= this.length) return false
    return this.byteAt(nth) === 0xef && (this.byteAt(nth + 1) | 1) === 0xbd
  }

  private byteAt(nth: number): number {
    const { bits } = this.radix
    const { digits } = this.run
    const bit = 8 * nth
    let digit = Math.floor(bit / bits)
    let have = (digit + 1) * bits - bit
    digit += this.phase
    let value = digits[digit]!
    while (have < 8) {
      value = (value << bits) | digits[++digit]!
      have += bits
    }
    return (value >> (have - 8)) & 255
  }

  /** The bytes of the stretch. */
  get found(): Uint8Array {
    return Uint8Array.from({ length: this.to - this.from }, (_, nth) =>
      this.byteAt(this.from + nth),
    )
  }

  /** Where in the text some bytes of the stretch are written. */
  placesOf(start: number, end: number): Region {
    const { places } = this.run
    const { bits } = this.radix
    const bit = this.phase * bits + 8 * this.from
    return {
      start: places[Math.floor((bit + 8 * start) / bits)]!,
      end: places[Math.ceil((bit + 8 * end) / bits) - 1]! + 1,
    }
  }
}
