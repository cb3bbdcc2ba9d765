import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currency, shownAmount } from '../../src/money/money.ts'
import { rational, readNumber } from '../../src/money/rational.ts'

test('a currency has 12 decimals, what is counted whole has none, and more than 18 are refused', () => {
  expect(currency('USD')).toEqual({ name: 'USD', digits: 12 })
  expect(currency('credits')).toEqual({ name: 'credits', digits: 0 })
  expect(() => currency('USD', 19)).toThrow('digits: expected a whole number from 0 to 18; got 19')
})

test('an amount is shown to its minor unit, and never as 0 if it is not 0', () => {
  const shown = (text: string, name = 'USD') => shownAmount(readNumber(text)!, name)
  expect(shown('1234567.891')).toBe('1,234,567.89 USD')
  expect(shown('0.015')).toBe('0.015 USD')
  expect(shown('0.005')).toBe('0.005 USD')
  expect(shown('0.0000612')).toBe('0.000061 USD')
  expect(shown('0.0082')).toBe('0.0082 USD')
  expect(shown('-0.005644')).toBe('-0.0056 USD')
  expect(shown('0.0512')).toBe('0.051 USD')
  expect(shown('0.05')).toBe('0.05 USD')
  expect(shown('0.0996')).toBe('0.10 USD')
  expect(shown('-0.00000000075')).toBe('-0.00000000075 USD')
  expect(shown('0')).toBe('0.00 USD')
  expect(shown('3', 'credits')).toBe('3 credits')
  expect(shown('0.0004', 'credits')).toBe('0.0004 credits')
  expect(shown('12', 'JPY')).toBe('12 JPY')
  expect(shown('1.5', 'DBU')).toBe('1.50 DBU')
  expect(shownAmount(rational(1n, 3000n), 'USD')).toBe('0.00033 USD')
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }), (units) => {
      const text = shownAmount(rational(units, 10n ** 12n), 'USD')
      expect(/[1-9]/.test(text)).toBe(units !== 0n)
    }),
  )
})
