import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSame } from '../../src/client/document/known-shapes.ts'

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** Few different bytes, so pieces often differ in one byte only; 0xff and 0x7f make NaNs. */
const byte = fc.constantFrom(0x61, 0x62, 0x7f, 0xf0, 0xff)

test('bytes count as equal only if they are, at any offset', () => {
  let same = 0
  fc.assert(
    fc.property(
      fc.array(byte, { maxLength: 40 }),
      fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 2 }),
      fc.nat(9),
      fc.nat(9),
      (text, change, from, at) => {
        const known = Uint8Array.from([...Array(from).fill(1), ...text])
        const other = Uint8Array.from([...Array(at).fill(2), ...text])
        if (change !== null && text.length > 0) other[at + (change[0] % text.length)] = change[1]
        const equal = Buffer.compare(known.subarray(from), other.subarray(at)) === 0
        const found = isSame(viewOf(known), from, known.length, viewOf(other), at, other.length)
        if (found) same++
        expect(found && !equal).toBe(false)
        // Equal letters are found equal, whatever the other bytes are.
        if (equal && text.every((each) => each < 0x7f)) expect(found).toBe(true)
        // A piece that is cut short is not equal.
        if (text.length > 0) {
          const short = other.length - 1
          expect(isSame(viewOf(known), from, known.length, viewOf(other), at, short)).toBe(false)
        }
      },
    ),
    { numRuns: 2000 },
  )
  expect(same).toBeGreaterThan(200)
})
