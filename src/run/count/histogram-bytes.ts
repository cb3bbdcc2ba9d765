import { deflateSync } from 'node:zlib'
import { headBytes, outerBytes } from '../../store/read/histogram-cells.ts'
import { type HistogramSlice, highestUs } from './time-histogram.ts'

/**
 * Encodes counts in HdrHistogram's format (V2, deflated) for the store. The cells are already those of an
 * HDR histogram, so no library is needed, which would take 50 ms to load at each start.
 * Source: `AbstractHistogram.encodeIntoByteBuffer` of HdrHistogram (Java).
 */
export function histogramBytes({ from, cells }: HistogramSlice): Uint8Array {
  const words: number[] = []
  let zeros = from
  for (const count of cells) {
    if (count === 0) zeros++
    else {
      // A run of zeros is one negative number.
      if (zeros > 0) pushWord(words, 2 * zeros - 1)
      pushWord(words, 2 * count)
      zeros = 0
    }
  }
  const plain = Buffer.alloc(headBytes + words.length)
  plain.writeInt32BE(plainCookie, 0)
  plain.writeInt32BE(words.length, 4)
  plain.writeInt32BE(significantDigits, 12)
  plain.writeBigInt64BE(1n, 16) // lowest value that differs from 0
  plain.writeBigInt64BE(BigInt(highestUs), 24)
  plain.writeDoubleBE(1, 32) // ratio of integer to double values
  plain.set(words, headBytes)
  const deflated = deflateSync(plain)
  const head = Buffer.alloc(outerBytes)
  head.writeInt32BE(deflatedCookie, 0)
  head.writeInt32BE(deflated.length, 4)
  return Buffer.concat([head, deflated])
}

const plainCookie = 0x1c849313
const deflatedCookie = 0x1c849314
const significantDigits = 3

/** Writes a ZigZag number in groups of seven bits, the lowest first. */
function pushWord(words: number[], zigzag: number): void {
  let rest = zigzag
  for (; rest >= 128; rest = Math.floor(rest / 128)) words.push((rest % 128) + 128)
  words.push(rest)
}
