import { expect, test } from 'vitest'
import { type Card, costText, measuredShare } from '../../../src/report/usage/shape.ts'

const card = (name: Card['name'], change: Partial<Card> = {}): Card => ({
  name,
  value: 1_250,
  before: null,
  change: null,
  n: 1_200,
  unmeasured: 34,
  ...change,
})

test.each([
  [card('tokens'), 'of 1,200 of 1,234 requests'],
  [card('averageTokens'), 'of 1,200 of 1,234 successes'],
  [card('credits'), 'of 1,200 of 1,234 requests'],
  [card('credits', { unmeasured: 1 }), 'of 1,200 of 1,201 requests'],
  [card('requests', { unmeasured: 0 }), null],
])('a value measured on some requests shows their number: %#', (given, text) => {
  expect(measuredShare(given)).toBe(text)
})

test.each([
  [card('credits'), 0.012, '$15.00 at 0.012 USD a credit'],
  [card('credits', { value: 0 }), 0.012, '$0.00 at 0.012 USD a credit'],
  [card('credits', { value: null }), 0.012, null],
  [card('credits'), null, null],
  [card('requests'), 0.012, null],
])('only credits have a cost, and only with a price: %#', (given, price, text) => {
  expect(costText(given, price)).toBe(text)
})
