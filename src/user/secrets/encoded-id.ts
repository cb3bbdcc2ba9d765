import type { KeyIndex } from './key-index.ts'
import {
  base32Lower,
  base32Upper,
  base64,
  digitRun,
  hex,
  isText,
  nextRun,
  type Radix,
  TextScan,
  textTable,
} from './radix.ts'

/** What a character of an id may be part of. */
const odd = 1
const hexOrBetween = 2
const lower32 = 4
const upper32 = 8
const bit = 16
const noLetter = 32
const wideStart = 64

/** Anything but a letter, a digit or a common separator makes an id odd, such as a part of an escape. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  const is = (set: RegExp, kind: number) => (set.test(letter) ? kind : 0)
  if (byte > 127) return odd
  return (
    is(/[^\w+/.:~@|-]/, odd) |
    is(/[0-9a-fA-F_.:~|-]/, hexOrBetween) |
    is(/[a-z2-7]/, lower32) |
    is(/[A-Z2-7]/, upper32) |
    is(/[01]/, bit) |
    is(/[^A-Za-z]/, noLetter) |
    is(/[7+v-]/, wideStart)
  )
})

/** Whether a byte begins an escape: a backslash, a percent sign, an ampersand or an equals sign. */
const isSign = (byte: number) => byte === 0x5c || byte === 0x25 || byte === 0x26 || byte === 0x3d

/** Bytes that an encoded secret has, in a further encoding too. Other letters of secrets are in `KeyIndex`. */
const ofEncodings = /[\w+/=\\%&;#{}[\]"',.: \t\r\n\0-]/

/** Characters of which a run is looked at first. */
const window = 5
/** More is always searched. */
const longestId = 512
const run = digitRun(longestId)
const decoded = new Uint8Array(longestId)
const digits = new Uint8Array(longestId)

const noDigit = 64
const sextets = Uint8Array.from(base64.values, (value) => (value < 0 ? noDigit : value))

/**
 * Finds out whether ids may contain a secret in an encoding. Few do, and those are searched. Each answer has an id, so most of its
 * bytes are skipped, and a part is decoded only where a secret may be:
 *
 *     a%41b%42…               `%` is odd, a part of an escape: searched
 *     chatcmpl-9fK2xQ7b…      one group of four characters in several is decoded as base64: do three bytes of a secret come out?
 *     550e8400-e29b-41d4-…    a run that is long enough is decoded as hex: are there as many letters of a secret as the shortest has?
 */
export class EncodedIds {
  private readonly index: KeyIndex
  private readonly scan: TextScan
  /** Whether a secret has this byte, plain or in a further encoding. */
  private readonly table: Uint8Array
  /** Bytes of the shortest text that is looked for. */
  private readonly least: number
  private readonly digits32: number
  /** Digits that were read. */
  private length = 0

  constructor(index: KeyIndex) {
    this.index = index
    this.least = index.leastEncoded
    this.digits32 = Math.ceil((this.least * 8) / 5)
    this.table = textTable(
      (byte) =>
        index.alphabet[byte] === 1 || (byte < 128 && ofEncodings.test(String.fromCharCode(byte))),
    )
    this.scan = new TextScan(this.table)
  }

  /**
   * Whether the bytes may be or contain escapes, or digits of base64, base32, hex or bits for letters that a secret
   * has, or a list of numbers.
   */
  mayStandIn(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > longestId) return true
    let all = 0
    for (let at = start; at < end; at++) all |= kinds[bytes[at]!]!
    if ((all & odd) !== 0) return true
    const { least } = this
    if (this.mayBeBase64(bytes, start, end) || mayBeWide(bytes, start, end, least)) {
      if (this.mayStandAs(base64, bytes, start, end)) return true
    }
    const runs = this.kindsOfRuns(bytes, start, end)
    return runs !== 0 && this.mayStandInRuns(runs, bytes, start, end)
  }

  /**
   * Kinds of which there may be a run that is long enough for a secret: of those, base32 has the fewest digits for a
   * letter. Every such run has one of these windows whole.
   */
  private kindsOfRuns(bytes: Uint8Array, start: number, end: number): number {
    const stride = this.digits32 - window + 1
    let found = 0
    for (let at = start; at + window <= end; at += stride) {
      found |=
        kinds[bytes[at]!]! &
        kinds[bytes[at + 1]!]! &
        kinds[bytes[at + 2]!]! &
        kinds[bytes[at + 3]!]! &
        kinds[bytes[at + 4]!]!
    }
    return found & (hexOrBetween | lower32 | upper32 | bit | noLetter)
  }

  private mayStandInRuns(runs: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { digits32 } = this
    const { least } = this
    for (let from = start; (runs & hexOrBetween) !== 0; ) {
      from = runOf(bytes, from, end, hexOrBetween, 2 * least)
      if (from < 0) break
      const next = this.readHex(bytes, from, end)
      if (this.mayBeHex()) return true
      from = next
    }
    const has = (kind: number, length: number) =>
      (runs & kind) !== 0 && runOf(bytes, start, end, kind, length) >= 0
    return (
      (has(lower32, digits32) && this.mayStandAs(base32Lower, bytes, start, end)) ||
      (has(upper32, digits32) && this.mayStandAs(base32Upper, bytes, start, end)) ||
      has(bit, 8 * least) ||
      // A list of numbers of one digit each is shorter, but no list of letters.
      has(noLetter, 3 * least - 1)
    )
  }

  /**
   * A text of so many letters fills whole groups of four digits, so one group in that many is examined, in each
   * alignment.
   */
  private mayBeBase64(bytes: Uint8Array, start: number, end: number): boolean {
    const step = 4 * Math.max(1, Math.floor((this.least - 2) / 3))
    for (let at = start + step - 4; at + 4 <= end; at += step) {
      const last = Math.min(at + 4, end - 3)
      for (let from = at; from < last; from++) {
        if (this.isGroup(bytes, from) === 0) continue
        if (step === 4) return true
        if (from - 4 >= start && this.isGroup(bytes, from - 4) === 1) return true
        if (from + 8 <= end && this.isGroup(bytes, from + 4) === 1) return true
      }
    }
    return false
  }

  /** 1 for four digits of base64 that are three bytes of a secret, else 0. Branches would cost more than they save. */
  private isGroup(bytes: Uint8Array, at: number): number {
    const { table } = this
    const a = sextets[bytes[at]!]!
    const b = sextets[bytes[at + 1]!]!
    const c = sextets[bytes[at + 2]!]!
    const d = sextets[bytes[at + 3]!]!
    return (
      table[((a << 2) | (b >> 4)) & 255]! &
      table[((b << 4) | (c >> 2)) & 255]! &
      table[((c << 6) | d) & 255]! &
      ~((a | b | c | d) >> 6) &
      1
    )
  }

  /** Reads a run of hex, which may have separators, as a UUID has. @returns the index after it */
  private readHex(bytes: Uint8Array, start: number, end: number): number {
    let length = 0
    let at = start
    for (; at < end && (kinds[bytes[at]!]! & hexOrBetween) !== 0; at++) {
      const value = hex.values[bytes[at]!]!
      digits[length] = value
      length += value >= 0 ? 1 : 0
    }
    this.length = length
    return at
  }

  private mayBeHex(): boolean {
    const { table, length } = this
    const { least } = this
    if (length >= 6 * least && this.hasWideHex()) return true
    const stride = least
    for (let phase = 0; phase < 2; phase++) {
      const last = length - 2
      for (let probe = phase + 2 * (stride - 1); probe <= last; probe += 2 * stride) {
        const byte = (digits[probe]! << 4) | digits[probe + 1]!
        if (table[byte] !== isText) continue
        let first = probe - 2
        while (first >= 0 && table[(digits[first]! << 4) | digits[first + 1]!] === isText)
          first -= 2
        let next = probe + 2
        while (next <= last && table[(digits[next]! << 4) | digits[next + 1]!] === isText) next += 2
        const found = (next - first) / 2 - 1
        if (found < least) continue
        for (let nth = 0; nth < found; nth++) {
          const at = first + 2 + 2 * nth
          decoded[nth] = (digits[at]! << 4) | digits[at + 1]!
        }
        if (this.mayBeFind(found)) return true
      }
    }
    return false
  }

  /** Whether the digits have the first bytes of a full-width letter: EF BC or EF BD. */
  private hasWideHex(): boolean {
    for (let at = 0; at + 3 < this.length; at++) {
      if (digits[at] === 0xe && digits[at + 1] === 0xf && digits[at + 2] === 0xb) {
        if (digits[at + 3] === 0xc || digits[at + 3] === 0xd) return true
      }
    }
    return false
  }

  /** Whether decoded bytes may hold a secret: itself, or in a further encoding, which is longer or has a sign of an escape. */
  private mayBeFind(length: number): boolean {
    const { index, least } = this
    if (length >= Math.floor((least * 8) / 6)) return true
    return index.mayStandIn(decoded, 0, length) || decoded.subarray(0, length).some(isSign)
  }

  private mayStandAs(radix: Radix, bytes: Uint8Array, start: number, end: number): boolean {
    const { scan, least } = this
    for (let from = start; from >= 0; ) {
      from = nextRun(bytes, from, end, radix, least, run)
      if (from < 0) return false
      scan.start(run, radix, least)
      while (scan.next()) {
        scan.copyTo(decoded)
        if (this.mayBeFind(scan.to - scan.from)) return true
      }
    }
    return false
  }
}

/**
 * Whether full-width letters may be there in base64 of UTF-8. Each has four digits, which begin with 77, +8, +9 or vv
 * in one of the four alignments.
 */
function mayBeWide(bytes: Uint8Array, start: number, end: number, least: number): boolean {
  if (end - start < 4 * least) return false
  let pairs = 0
  for (let at = start; at + 1 < end; at++) {
    if ((kinds[bytes[at]!]! & wideStart) !== 0 && isWidePair(bytes, at)) pairs++
  }
  return pairs >= Math.min(least, 4)
}

const isWidePair = (bytes: Uint8Array, at: number) =>
  /77|[+-][89]|vv/.test(String.fromCharCode(bytes[at]!, bytes[at + 1]!))

/**
 * Where some consecutive bytes of a kind begin; -1 if nowhere. Only each such place is examined, as Boyer and Moore do.
 */
function runOf(bytes: Uint8Array, start: number, end: number, kind: number, least: number): number {
  for (let probe = start + least - 1; probe < end; probe += least) {
    if ((kinds[bytes[probe]!]! & kind) === 0) continue
    let first = probe - 1
    while (first >= start && (kinds[bytes[first]!]! & kind) !== 0) first--
    const needed = first + least
    if (needed >= end) return -1
    let last = probe + 1
    while (last <= needed && (kinds[bytes[last]!]! & kind) !== 0) last++
    if (last > needed) return first + 1
  }
  return -1
}
