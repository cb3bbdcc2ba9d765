import { deflateSync } from 'node:zlib'
import { type HistogramSlice, highestUs } from './time-histogram.ts'

/**
 * Counts as HdrHistogram's own bytes (V2, deflated), as the store keeps them. The cells are those of such a
 * histogram already, so that the recorder needs no library, whose loading takes 50 ms of each start.
 * Source: `AbstractHistogram.encodeIntoByteBuffer` of HdrHistogram (Java).
 */
export function histogramBytes({ from, cells }: HistogramSlice): Uint8Array {
  const words: number[] = []
  let zeros = from
  for (const count of cells) {
    if (count === 0) zeros++
    else {
      // Zeros in a row are one negative number.
      if (zeros > 0) pushWord(words, 2 * zeros - 1)
      pushWord(words, 2 * count)
      zeros = 0
    }
  }
  const plain = Buffer.alloc(headBytes + words.length)
  plain.writeInt32BE(plainCookie, 0)
  plain.writeInt32BE(words.length, 4)
  plain.writeInt32BE(significantDigits, 12)
  plain.writeBigInt64BE(1n, 16) // the lowest value told from 0
  plain.writeBigInt64BE(BigInt(highestUs), 24)
  plain.writeDoubleBE(1, 32) // a value counts as itself
  plain.set(words, headBytes)
  const deflated = deflateSync(plain)
  const head = Buffer.alloc(8)
  head.writeInt32BE(deflatedCookie, 0)
  head.writeInt32BE(deflated.length, 4)
  return Buffer.concat([head, deflated])
}

const plainCookie = 0x1c849313
const deflatedCookie = 0x1c849314
const headBytes = 40
const significantDigits = 3

/** A ZigZag number in groups of seven bits, the lowest first. */
function pushWord(words: number[], zigzag: number): void {
  let rest = zigzag
  for (; rest >= 128; rest = Math.floor(rest / 128)) words.push((rest % 128) + 128)
  words.push(rest)
}
