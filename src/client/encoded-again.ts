/** Kinds of decoded bytes. */
const nothing = 0
const text = 1
const word = 2
const sign = 3

/** Kind of each byte. word: possible base64 or hex. sign: part of an escape, or of a fold in base64. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  if (/[\\%&=\0\r\n]/.test(letter)) return sign
  if (/[\w+/-]/.test(letter)) return word
  return byte >= 0x20 && byte < 0x7f ? text : nothing
})

const other = -1
/** Decoders of base64 skip it. */
const fold = -2

/** The value of each digit of base64, plain or for URLs. */
const sextets = Int8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  if (/[=\r\n]/.test(letter)) return fold
  return /[\w+/-]/.test(letter) ? Buffer.from(`AAA${letter}`, 'base64')[2]! : other
})

const nibbles = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? other : value
})

/**
 * Whether bytes may be base64 or hex of a text that contains the key in escapes, or encoded twice or
 * more. The alignment of an encoded run is unknown, so each is tried.
 *
 * @param keyLength letters of the key, at least 4
 * @param leastAgain length of the shortest base64 of the key in escapes
 */
export function mayBeEncodedAgain(
  bytes: Buffer,
  start: number,
  end: number,
  keyLength: number,
  leastAgain: number,
): boolean {
  // Four digits of base64 are three bytes. A run with the key has at least this many whole groups.
  const least = Math.floor((keyLength - 1) / 3)
  for (let first = start; first < start + 4; first++) {
    let groups = 0
    for (let at = first; at + 4 <= end; at += 4) {
      const [a, b] = [sextets[bytes[at]!]!, sextets[bytes[at + 1]!]!]
      const [c, d] = [sextets[bytes[at + 2]!]!, sextets[bytes[at + 3]!]!]
      if ((a | b | c | d) < 0) {
        if (Math.min(a, b, c, d) === fold) return true
        groups = 0
      } else if (
        kinds[(a << 2) | (b >> 4)] === nothing ||
        kinds[((b << 4) | (c >> 2)) & 255] === nothing ||
        kinds[((c << 6) | d) & 255] === nothing
      ) {
        groups = 0
      } else if (++groups === least) {
        if (holdsRun(base64Kinds(bytes, start, first, end), keyLength, leastAgain)) return true
      }
    }
  }
  for (let first = start; first < start + 2; first++) {
    let run = 0
    for (let at = first; at + 2 <= end; at += 2) {
      run = hexKind(bytes, at) === nothing ? 0 : run + 1
      if (run <= keyLength) continue
      if (holdsRun(hexKinds(bytes, first, end), keyLength, leastAgain)) return true
      break
    }
  }
  return false
}

/** Kinds of the bytes that base64 decodes to, if a group begins at `first`. */
function base64Kinds(bytes: Buffer, start: number, first: number, end: number): readonly number[] {
  const found: number[] = []
  for (let at = start; at + 1 < end; at++) {
    const place = (at - first) & 3
    if (place === 3) continue
    const [left, right] = [sextets[bytes[at]!]!, sextets[bytes[at + 1]!]!]
    const byte = (((left << 6) | right) >> (4 - 2 * place)) & 255
    found.push((left | right) < 0 ? nothing : kinds[byte]!)
  }
  return found
}

function hexKinds(bytes: Buffer, first: number, end: number): readonly number[] {
  return Array.from({ length: (end - first) >> 1 }, (_, nth) => hexKind(bytes, first + 2 * nth))
}

function hexKind(bytes: Buffer, at: number): number {
  const byte = (nibbles[bytes[at]!]! << 4) | nibbles[bytes[at + 1]!]!
  return byte < 0 ? nothing : kinds[byte]!
}

/** Whether enough consecutive bytes could be an encoded key. */
function holdsRun(decoded: readonly number[], keyLength: number, least: number): boolean {
  let [run, words, signed] = [0, 0, false]
  for (const kind of decoded) {
    run = kind === nothing ? 0 : run + 1
    words = kind === word ? words + 1 : 0
    signed = run > 0 && (signed || kind === sign)
    if (words >= least || (signed && run > keyLength)) return true
  }
  return false
}
