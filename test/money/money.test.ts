import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bigintUnits,
  currency,
  exactText,
  money,
  nearestMoney,
  readMoney,
  shownAmount,
  shownMoney,
  sumOf,
} from '../../src/money/money.ts'
import { rational, readNumber } from '../../src/money/rational.ts'

const usd = currency('USD')

test('an amount is a whole number of its smallest unit', () => {
  expect(readMoney('3.06e-05', usd)).toEqual({ units: 30_600_000n, currency: usd })
  expect(readMoney('3', currency('credits'))).toEqual({
    units: 3n,
    currency: { name: 'credits', digits: 0 },
  })
  expect(exactText(readMoney('0.10', usd))).toBe('0.1')
})

test('an amount that does not fit is an error with its text, never a rounded number', () => {
  expect(() => readMoney('0.0000000000001', usd)).toThrow(
    '0.0000000000001 USD: more than 12 decimals; raise digits (at most 18), or round it',
  )
  expect(() => readMoney('1.5', currency('quota'))).toThrow('1.5 quota: more than 0 decimals')
  expect(() => readMoney('1,5', usd)).toThrow('expected an amount of USD such as 0.0075; got "1,5"')
  expect(() => readMoney('1e26', usd)).toThrow(
    /^100000000000000000000000000\.\d+ USD: more than 38/,
  )
  expect(() => currency('USD', 19)).toThrow('digits: expected a whole number from 0 to 18; got 19')
})

test('a column holds 9.2 million USD for one request, and a larger cost is an error', () => {
  expect(bigintUnits(readMoney('9223372', usd))).toBe(9_223_372_000_000_000_000n)
  expect(() => bigintUnits(readMoney('9223373', usd))).toThrow(
    '9223373 USD: too large for one cost with 12 digits; lower digits',
  )
})

test('more decimals than the currency has are rounded half to even, and said to be', () => {
  const nearest = (text: string) => {
    const { money, isExact } = nearestMoney(readNumber(text)!, currency('USD', 2))
    return [exactText(money), isExact]
  }
  expect(nearest('0.025')).toEqual(['0.02', false])
  expect(nearest('0.035')).toEqual(['0.04', false])
  expect(nearest('0.0351')).toEqual(['0.04', false])
  expect(nearest('0.03')).toEqual(['0.03', true])
})

test('sums are exact, and amounts of two currencies are never added', () => {
  const tenth = readMoney('0.1', usd)
  expect(exactText(sumOf(Array(3).fill(tenth), usd))).toBe('0.3')
  expect(() => sumOf([tenth, readMoney('1', currency('EUR'))], usd)).toThrow(
    'EUR (12 digits) is not added to USD (12 digits)',
  )
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
      const text = shownMoney(money(units, usd))
      expect(/[1-9]/.test(text)).toBe(units !== 0n)
    }),
  )
})
