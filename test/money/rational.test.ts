import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  add,
  compare,
  decimalText,
  divide,
  larger,
  multiply,
  negate,
  type Rational,
  rational,
  readNumber,
  roundings,
  roundTo,
  roundWhole,
  smaller,
  subtract,
} from '../../src/money/rational.ts'

const fractions = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    fc.bigInt({ min: 1n, max: 10n ** 20n }),
  )
  .map(([numerator, denominator]) => rational(numerator, denominator))
const text = (value: string) => decimalText(readNumber(value)!)

test('the smaller and the larger of two fractions are those of their decimals', () => {
  const [a, b] = [rational(1n, 3n), readNumber('0.3')!]
  expect([smaller(a, b), smaller(b, a), larger(a, b), larger(b, a)]).toEqual([b, b, a, a])
})

test('a number is the decimal that is written', () => {
  expect(text('2.5')).toBe('2.5')
  expect(text('3.06e-05')).toBe('0.0000306')
  expect(text('1E+3')).toBe('1000')
  expect(text('-0.0')).toBe('0')
  expect(text('.5')).toBe('0.5')
  expect(text('1/3')).toBe('1/3')
  expect(text('2.5/1000')).toBe('0.0025')
  expect(text('0.0043880400000000002')).toBe('0.0043880400000000002')
})

test('a text that is no number, or no amount that anybody has, is null', () => {
  for (const wrong of ['', '.', '1,5', '0x10', '1e', '1/0', '1/2/3', 'NaN', '١', '1e61', '1e-9999'])
    expect([wrong, readNumber(wrong)]).toEqual([wrong, null])
  expect(readNumber('0e9999')).toEqual({ numerator: 0n, denominator: 1n })
})

test('every decimal comes back as it was written', () => {
  const decimals = fc.tuple(
    fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
    fc.integer({ min: 0, max: 25 }),
  )
  fc.assert(
    fc.property(decimals, ([units, places]) => {
      const value = rational(units, 10n ** BigInt(places))
      expect(readNumber(decimalText(value))).toEqual(value)
      expect(readNumber(`${units}e-${places}`)).toEqual(value)
    }),
  )
})

test('the four operations are those of fractions', () => {
  fc.assert(
    fc.property(fractions, fractions, fractions, (a, b, c) => {
      expect(subtract(add(a, b), b)).toEqual(a)
      expect(multiply(a, add(b, c))).toEqual(add(multiply(a, b), multiply(a, c)))
      if (b.numerator !== 0n) expect(multiply(divide(a, b), b)).toEqual(a)
      expect(compare(a, b)).toBe(-compare(b, a) + 0)
      expect(negate(negate(a))).toEqual(a)
    }),
  )
})

test('each rounding treats halves and the rest in its own way', () => {
  const by = (value: Rational) => roundings.map((mode) => `${roundWhole(value, mode)}`)
  //                              half_even half_up half_down up down
  expect(by(rational(5n, 2n))).toEqual(['2', '3', '2', '3', '2'])
  expect(by(rational(7n, 2n))).toEqual(['4', '4', '3', '4', '3'])
  expect(by(rational(-5n, 2n))).toEqual(['-2', '-3', '-2', '-3', '-2'])
  expect(by(rational(21n, 10n))).toEqual(['2', '2', '2', '3', '2'])
  expect(by(rational(29n, 10n))).toEqual(['3', '3', '3', '3', '2'])
  expect(by(rational(3n))).toEqual(['3', '3', '3', '3', '3'])
  expect(decimalText(roundTo(readNumber('0.025')!, 2, 'half_even'))).toBe('0.02')
  expect(decimalText(roundTo(readNumber('1550')!, -2, 'half_up'))).toBe('1600')
})

test('rounding moves a value by less than one unit, and not by more than half of one where halves count', () => {
  fc.assert(
    fc.property(fractions, fc.integer({ min: 0, max: 6 }), (value, digits) => {
      for (const mode of roundings) {
        const off = subtract(roundTo(value, digits, mode), value)
        const size = off.numerator < 0n ? negate(off) : off
        const bound = mode === 'up' || mode === 'down' ? 1n : 2n
        const most = rational(1n, bound * 10n ** BigInt(digits))
        expect(compare(size, most)).toBeLessThanOrEqual(bound === 1n ? -1 : 0)
      }
    }),
  )
})
