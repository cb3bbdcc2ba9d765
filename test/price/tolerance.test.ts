import { expect, test } from 'vitest'
import { decimalText, powerOfTen, readNumber } from '../../src/money/rational.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { StatedCost } from '../../src/price/judge/request.ts'
import { ShownUnits, unitsOf } from '../../src/price/judge/tolerance.ts'
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
