import type { KeyIndex } from './key-index.ts'
import { digitRun, nextRun, radixes, TextScan, textTable } from './radix.ts'

/** Anything but a letter, a digit or a common separator makes an id odd, such as a part of an escape. */
const odd = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 128 && /[\w+/.:~@|-]/.test(String.fromCharCode(byte)) ? 0 : 1,
)

/** Whether a byte begins an escape: a backslash, a percent sign, an ampersand or an equals sign. */
const isSign = (byte: number) => byte === 0x5c || byte === 0x25 || byte === 0x26 || byte === 0x3d
const isLetter = (byte: number) => (byte | 32) >= 97 && (byte | 32) <= 122

/** Bytes that an encoded secret has, in a further encoding too. Other letters of secrets are in `KeyIndex`. */
const ofEncodings = /[\w+/=\\%&;#{}[\]"',.: \t\r\n\0-]/

/** More is always searched. */
const longestId = 512
const run = digitRun(longestId)

/**
 * Finds out whether ids may contain a secret in an encoding. Few do, and those are searched:
 *
 *     a%41b%42…               `%` is odd, a part of an escape
 *     chatcmpl-9fK2xQ7b…      its digits are decoded: are there as many letters of a secret as the shortest has?
 */
export class EncodedIds {
  private readonly index: KeyIndex
  private readonly scan: TextScan
  /** Bytes of the shortest text that is looked for. */
  private readonly least: number

  constructor(index: KeyIndex) {
    this.index = index
    this.least = index.leastEncoded
    this.scan = new TextScan(
      textTable(
        (byte) =>
          index.alphabet[byte] === 1 || (byte < 128 && ofEncodings.test(String.fromCharCode(byte))),
      ),
    )
  }

  /** Whether the bytes may be or contain escapes, a list of numbers, or digits of an encoding for letters that a secret has. */
  mayStandIn(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > longestId) return true
    const { scan, least } = this
    let unlettered = 0
    for (let at = start; at < end; at++) {
      if (odd[bytes[at]!] === 1) return true
      unlettered = isLetter(bytes[at]!) ? 0 : unlettered + 1
      // A list of numbers of one digit each is shorter, but no list of letters.
      if (unlettered >= 3 * least - 1) return true
    }
    for (const radix of radixes) {
      for (let from = start; from >= 0; ) {
        from = nextRun(bytes, from, end, radix, least, run)
        if (from < 0) break
        scan.start(run, radix, least)
        while (scan.next()) {
          if (this.mayBeFind(scan.found)) return true
        }
      }
    }
    return false
  }

  /** Whether decoded bytes may hold a secret: itself, or in a further encoding, which is longer or has a sign of an escape. */
  private mayBeFind(decoded: Uint8Array): boolean {
    const { index, least } = this
    if (decoded.length >= Math.floor((least * 8) / 6)) return true
    return index.mayStandIn(decoded, 0, decoded.length) || decoded.some(isSign)
  }
}
