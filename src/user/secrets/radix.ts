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

export const base64 = radix(
  6,
  [`${upper}${lower}0123456789+/`, `${upper}${lower}0123456789-_`],
  `${space}=`,
)
/** The x is that of a prefix, as in `0x73`, whose zero is no digit. */
export const hex = radix(4, ['0123456789ABCDEF', '0123456789abcdef'], `${space}:-,;._|"'[]~xX`)

/** Base32 is written in one case. */
export const base32Upper = radix(5, [`${upper}234567`], `${space}=`)
export const base32Lower = radix(5, [`${lower}234567`], `${space}=`)
const bits = radix(1, ['01'], `${space},;._|-`)

export const radixes: readonly Radix[] = [base64, hex, base32Upper, base32Lower, bits]

/** A run of digits, and the place of each. */
export interface DigitRun {
  digits: Uint8Array
  places: Int32Array
  length: number
}

/** A run with room for some digits, to be reused. It grows when a longer one is found. */
export const digitRun = (most: number): DigitRun => ({
  digits: new Uint8Array(most + 3),
  places: new Int32Array(most),
  length: 0,
})

/**
 * Reads the next run of digits that is long enough for some bytes. A run has as many characters or more, so only each
 * such place is examined, as Boyer and Moore do.
 *
 * @param from where to look; no earlier digit belongs to the run
 * @returns the index after the run; -1 if there is none
 */
export function nextRun(
  bytes: Uint8Array,
  from: number,
  end: number,
  { bits, values }: Radix,
  leastBytes: number,
  into: DigitRun,
): number {
  const least = Math.ceil((leastBytes * 8) / bits)
  for (let probe = from + least - 1; probe < end; probe += least) {
    if (values[bytes[probe]!]! === breaks) continue
    let first = probe
    let last = probe + 1
    if (bits < 5) {
      while (first > from && values[bytes[first - 1]!]! !== breaks) first--
      while (last < end && values[bytes[last]!]! !== breaks) last++
    } else {
      if (isSpace(bytes[probe]!)) continue
      first = lineStart(bytes, probe, from, values)
      last = lineEnd(bytes, probe, end, values)
      for (let length = last - first, to = joined(bytes, last, end, values, length); to > last; ) {
        length = to - afterSpace(bytes, last, end)
        last = to
        to = joined(bytes, last, end, values, length)
      }
      for (let start = first; ; first = start) {
        const before = beforeSpace(bytes, start, from)
        if (before === start || before <= from || values[bytes[before - 1]!]! === breaks) break
        const other = lineStart(bytes, before - 1, from, values)
        const here = lineEnd(bytes, start, end, values) - start
        if (Math.max(before - other, here) < shortestLine) break
        start = other
      }
    }
    if (last - first < least) {
      probe = last - least + 1
      continue
    }
    if (into.places.length < last - first) Object.assign(into, digitRun(last - first))
    const { digits, places } = into
    let length = 0
    for (let at = first; at < last; at++) {
      const value = values[bytes[at]!]!
      if (value >= 0) {
        places[length] = at
        digits[length++] = value
      } else if (
        bits === 4 &&
        length > 0 &&
        digits[length - 1] === 0 &&
        (bytes[at]! | 32) === 120
      ) {
        length--
      }
    }
    if (length >= least) {
      into.length = length
      return last
    }
    probe = last
  }
  return -1
}

/**
 * Digits of base64 and base32 go on after white space only where lines are folded: next to a line of so many digits. Words
 * of prose are shorter.
 */
const shortestLine = 8

const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13)

function lineStart(bytes: Uint8Array, at: number, from: number, values: Int8Array): number {
  let first = at
  while (first > from && values[bytes[first - 1]!]! !== breaks && !isSpace(bytes[first - 1]!))
    first--
  return first
}

function lineEnd(bytes: Uint8Array, at: number, end: number, values: Int8Array): number {
  let last = at
  while (last < end && values[bytes[last]!]! !== breaks && !isSpace(bytes[last]!)) last++
  return last
}

function afterSpace(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && isSpace(bytes[next]!)) next++
  return next
}

function beforeSpace(bytes: Uint8Array, at: number, from: number): number {
  let before = at
  while (before > from && isSpace(bytes[before - 1]!)) before--
  return before
}

/** The end of the line after white space, if it goes on one of `length` digits; else `last`. */
function joined(
  bytes: Uint8Array,
  last: number,
  end: number,
  values: Int8Array,
  length: number,
): number {
  const next = afterSpace(bytes, last, end)
  if (next === last) return last
  const to = lineEnd(bytes, next, end, values)
  return to > next && Math.max(length, to - next) >= shortestLine ? to : last
}

/** Values of `textTable`. */
export const isText = 1
/** May be one of the three bytes of a full-width letter in UTF-8. */
const mayBeWide = 2

/** What each byte may be: `text`, or a part of a full-width letter. */
export const textTable = (isByteOfText: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) =>
    isByteOfText(byte) ? isText : byte === 0xef || (byte >= 0x80 && byte < 0xc0) ? mayBeWide : 0,
  )

/** Finds stretches of bytes in a run of digits that may be text. */
export class TextScan {
  /** The stretch that was found, in bytes after the bit `first`. */
  first = 0
  from = 0
  to = 0

  private readonly table: Uint8Array
  private run!: DigitRun
  private bits = 0
  private bytes = 0
  private phase = 0
  private phases = 0
  private probe = 0
  private least = 0

  /** @param table what each byte may be */
  constructor(table: Uint8Array) {
    this.table = table
  }

  /** @param least bytes of a stretch that counts */
  start(run: DigitRun, { bits, phases }: Radix, least: number): void {
    this.run = run
    this.bits = bits
    this.phases = phases
    this.least = least
    this.phase = -1
    this.nextPhase()
  }

  private nextPhase(): void {
    this.phase++
    this.first = this.phase * this.bits
    this.bytes = Math.floor((this.run.length * this.bits - this.first) / 8)
    this.probe = this.least - 1
  }

  /** Finds the next stretch. Each has a byte at a multiple of its least length, so other bytes are skipped. */
  next(): boolean {
    const { table, least: stride } = this
    const { digits } = this.run
    const width = this.bits
    const several = width === 5 ? 3 : width === 1 ? 8 : 2
    const spare = several * width - 8
    for (; this.phase < this.phases; this.nextPhase()) {
      let { probe } = this
      const { bytes, first } = this
      if (probe >= bytes) continue
      const bit = first + 8 * probe
      let digit = Math.floor(bit / width)
      let offset = bit - digit * width
      const wholeDigits = Math.floor((8 * stride) / width)
      const restBits = 8 * stride - wholeDigits * width
      for (; probe < bytes; probe += stride) {
        let value = (digits[digit]! << width) | digits[digit + 1]!
        if (several > 2) {
          for (let nth = 2; nth < several; nth++) value = (value << width) | digits[digit + nth]!
        }
        const kind = table[(value >> (spare - offset)) & 255]!
        if (kind !== 0 && this.reaches(probe, kind)) {
          this.probe = this.to + stride
          return true
        }
        digit += wholeDigits
        offset += restBits
        if (offset >= width) {
          offset -= width
          digit++
        }
      }
    }
    return false
  }

  private reaches(probe: number, kind: number): boolean {
    if (kind === mayBeWide && !this.isText(probe)) return false
    let from = probe
    while (from > 0 && this.isText(from - 1)) from--
    let to = probe + 1
    while (to < this.bytes && this.isText(to)) to++
    this.from = from
    this.to = to
    return to - from >= this.least
  }

  private isText(nth: number): boolean {
    const byte = this.byteAt(nth)
    if (this.table[byte]! === isText) return true
    if (byte < 128) return false
    if (byte >= 0xc0) return byte === 0xef && this.isWide(nth)
    return this.isWide(nth - 1) || this.isWide(nth - 2)
  }

  /** Whether a full-width letter begins here, in UTF-8. */
  private isWide(nth: number): boolean {
    if (nth < 0 || nth + 1 >= this.bytes) return false
    return this.byteAt(nth) === 0xef && (this.byteAt(nth + 1) | 1) === 0xbd
  }

  private byteAt(nth: number): number {
    const width = this.bits
    const { digits } = this.run
    const bit = this.first + 8 * nth
    let digit = Math.floor(bit / width)
    let have = width - (bit - digit * width)
    let value = digits[digit]!
    while (have < 8) {
      value = (value << width) | digits[++digit]!
      have += width
    }
    return (value >> (have - 8)) & 255
  }

  /** Copies the bytes of the stretch. */
  copyTo(buffer: Uint8Array): void {
    for (let nth = this.from; nth < this.to; nth++) buffer[nth - this.from] = this.byteAt(nth)
  }

  /** Where in the text some bytes of the stretch are written. */
  placesOf(start: number, end: number): { readonly start: number; readonly end: number } {
    const { places } = this.run
    const bit = this.first + 8 * this.from
    return {
      start: places[Math.floor((bit + 8 * start) / this.bits)]!,
      end: places[Math.ceil((bit + 8 * end) / this.bits) - 1]! + 1,
    }
  }
}
