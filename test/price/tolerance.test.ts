import { expect, test } from 'vitest'
import type { ModelPrice } from '../../src/contract/prices.ts'
import { decimalText, powerOfTen, rational, readNumber } from '../../src/money/rational.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { StatedCost } from '../../src/price/judge/request.ts'
import {
  isExactly,
  isWithin,
  ShownUnits,
  toleranceOf,
  unitOf,
  unitsOf,
} from '../../src/price/judge/tolerance.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request } from './made-requests.ts'

const currency = { name: 'USD', digits: 12 }
const stated = (text: string, times?: string): StatedCost =>
  ({
    ...{ text, value: readNumber(text)!, decimals: text.split('.')[1]?.length ?? 0 },
    ...(times === undefined ? {} : { times: readNumber(times)! }),
    place: 'log',
  }) as StatedCost

test('a few amounts of another currency are as exact as their decimals, where others show that decimals are rounded', () => {
  const dollars = ['0.000140', '0.000160', '0.000181'].map((text) => stated(text))
  const euros = stated('0.000127', '2')
  const shown = new ShownUnits(currency)
  for (const each of [...dollars, euros]) shown.add(each)
  for (const unitOf of [unitsOf([...dollars, euros], currency), shown.unitOf])
    expect([dollars[0]!, euros].map((each) => decimalText(unitOf(each)))).toEqual([
      '0.000001',
      '0.000002',
    ])
  expect(unitsOf([euros], currency)(euros)).toEqual(powerOfTen(-12))
})

test('the unit of a place is that of its finest amount, unless its amounts are few and coarse', () => {
  const unit = (...texts: readonly string[]) =>
    decimalText(
      unitOf(
        texts.map((text) => stated(text)),
        { name: 'USD', digits: 6 },
      ),
    )
  const own = '0.000001'
  expect(unit('0.0099')).toBe(own)
  expect(unit('0.0100')).toBe('0.0001')
  expect(unit('0.0001', '-0.0100')).toBe('0.0001')
  expect(unit('0.0001', '0.0002', '0.0001')).toBe(own)
  expect(unit('0.01', '0.0002', '0.003')).toBe('0.0001')
  expect(unit('0.1', '0.2', '0.3')).toBe('0.1')
  // Whole numbers show no place, and nothing is finer than the currency.
  expect(unit('1', '2', '3')).toBe(own)
  expect(unit('0.0000001', '0.0000002', '0.0000003')).toBe(own)
})

test('whole amounts of another currency show what its unit is worth', () => {
  const euros = ['1', '2', '3'].map((text) => stated(text, '1.2'))
  expect(unitsOf(euros, currency)(euros[0]!)).toEqual(readNumber('1.2'))
})

test('three different amounts show the units of all places', () => {
  const amounts = [stated('0.1'), stated('0.2'), stated('0.1', '2'), stated('0.03', '2')]
  const shown = new ShownUnits(currency)
  const hasSeveral = amounts.map((each) => {
    shown.add(each)
    return shown.hasSeveral
  })
  expect(hasSeveral).toEqual([false, false, false, true])
  expect(amounts.map((each) => decimalText(shown.unitOf(each)))).toEqual([
    '0.1',
    '0.1',
    '0.02',
    '0.02',
  ])
})

test('a cost is met within half a unit where rounding is promised, and within less than a unit where it is not', () => {
  const price = { price: { input: 1 } }
  const open = { ...modelOf(price), round: null }
  const promised = modelOf({ ...price, round: { at: 'request', digits: 2, mode: 'half_up' } })
  expect([open.round, promised.round?.digits]).toEqual([null, 2])
  const unit = readNumber('0.01')!
  const cost = readNumber('7')!
  const tolerances = [open, promised, null].map((model) => toleranceOf(cost, unit, model))
  expect(tolerances.map(decimalText)).toEqual(['0.01', '0.005', '0.005'])
  const within = (text: string, model: ModelPrice | null) =>
    isWithin(readNumber(text)!, cost, unit, model)
  expect(['7', '6.991', '7.009', '7.01', '6.99'].map((text) => within(text, open))).toEqual([
    ...[true, true, true, false, false],
  ])
  for (const model of [promised, null])
    expect(['7', '7.005', '6.995', '7.0051'].map((text) => within(text, model))).toEqual([
      ...[true, true, true, false],
    ])
  expect(['7.005', '7.0051'].map((text) => isExactly(readNumber(text)!, cost, unit))).toEqual([
    true,
    false,
  ])
})

test('an amount of a double may miss a large cost by 10^-12 of it', () => {
  const unit = powerOfTen(-12)
  expect(toleranceOf(rational(-3n), unit, null)).toEqual(readNumber('3e-12'))
  expect(toleranceOf(rational(1n, 3n), unit, null)).toEqual(readNumber('0.5e-12'))
})

test('one or two amounts may be rounded to their last digit, and more show whether they are', () => {
  const usage = readUsage(
    { prompt_tokens: 3343, completion_tokens: 0, total_tokens: 3343 },
    'openai-chat',
  )
  const judge = {
    currency,
    priceOf: () => modelOf({ price: { input: { price: 2, per: 100_000_000 } } }),
    ...{ choices: {}, clockErrorMs: 0, twinOf: () => null },
  }
  const judged = (...texts: readonly string[]) =>
    judgePlace(
      texts.map((text) => ({ request: request({ usage }), statement: stated(text) })),
      judge,
    )
  const verdicts = (...texts: readonly string[]) => judged(...texts).map(({ is }) => is)
  expect(decimalText(judged('1')[0]!.nearest!)).toBe('0.00006686')
  expect(verdicts('0.000067')).toEqual(['open'])
  // Not to the nearest, and a single digit is no sign of rounding.
  expect(verdicts('0.000068', '0.0001')).toEqual(['wrong', 'wrong'])
  expect(verdicts('0.000067', '0.000067', '0.000067')).toEqual(['wrong', 'wrong', 'wrong'])
})
