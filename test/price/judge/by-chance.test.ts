import { expect, test } from 'vitest'
import { decimalText, rational, readNumber } from '../../../src/money/rational.ts'
import { chanceOf, isByChance, unlikeAmounts } from '../../../src/price/judge/by-chance.ts'
import { statement } from '../made-requests.ts'

/** An amount where another is right, or nobody knows which, of a place with two decimals. */
const amount = (text: string, nearest: string | null) => ({
  ...{ statement: statement(text), unit: readNumber('0.01')! },
  nearest: nearest === null ? null : readNumber(nearest),
})

test('the same amount for the same cost counts once', () => {
  const amounts = [
    ...[amount('0.5', '0.4'), amount('0.50', '0.4'), amount('0.5', '0.3'), amount('0.6', '0.4')],
    ...[amount('0.5', null), amount('0.5', null), amount('0.5', '0.5')],
  ]
  expect(unlikeAmounts(amounts)).toEqual([amounts[1], amounts[2], amounts[3], amounts[6]])
})

test('an amount that is n units from its cost is given by chance once in n', () => {
  const chance = (...amounts: Parameters<typeof amount>[]) =>
    decimalText(chanceOf(amounts.map((each) => amount(...each))))
  expect(chance()).toBe('1')
  expect(chance(['0.5', '0.4'])).toBe('0.1')
  expect(chance(['0.4', '0.5'])).toBe('0.1')
  expect(chance(['0.41', '0.4'])).toBe('1')
  expect(chance(['0.405', '0.4'])).toBe('1')
  expect(chance(['0.42', '0.4'])).toBe('0.5')
  expect(chance(['0.5', '0.4'], ['0.9', '0.4'])).toBe('0.002')
  expect(chance(['0.5', null])).toBe('1')
  expect(chance(['0', '0.4'])).toBe('0.001')
})

test('amounts are by chance unless they come as seldom as once in a thousand', () => {
  const ones = [amount('0.5', '0.4'), amount('0.6', '0.5'), amount('0.7', '0.6')]
  expect(chanceOf(ones)).toEqual(rational(1n, 1000n))
  expect([isByChance(ones), isByChance(ones.slice(1))]).toEqual([false, true])
})
