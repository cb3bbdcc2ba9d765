import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountWriting } from '../../src/portal/page/columns.ts'
import { sharesOf } from '../../src/report/usage/board/sums.js'

const digits = (text: string) => BigInt(text.replace(/[^\d-]/g, ''))

test('money has the digits that people write, and small amounts are never nothing', () => {
  const { one } = amountWriting('en', 'EUR')
  expect(['7.3', '1234.5', '0', '0.004', '-0.2', '0.00012'].map(one)).toEqual([
    ...['€7.30', '€1,234.50', '€0.00', '€0.004', '-€0.20', '€0.00012'],
  ])
  expect(one(null)).toBe('–')
  expect(amountWriting('ja', 'JPY').one('1200')).toBe('￥1,200')
  expect(amountWriting('de-DE', 'EUR').one('7.3')).toBe('7,30\u00a0€')
  expect(amountWriting('en', 'credits').one('18')).toBe('18')
  expect(amountWriting('en', 'quota').one('4.5')).toBe('4.5 quota')
})

test('a column whose rows are rounded adds up to the total that is shown', () => {
  const { column } = amountWriting('en', 'EUR')
  // Three thirds of a euro are a euro: one of them has the cent.
  expect(column(['0.3333', '0.3333', '0.3334'], '1')).toEqual(['€0.33', '€0.33', '€0.34'])
  expect(column(['0.005', '5', null, '-0.2'], '4.805')).toEqual([
    ...['€0.005', '€5.000', '–', '-€0.200'],
  ])
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -20_000, max: 3_000_000 }), { minLength: 1, maxLength: 40 }),
      (parts) => {
        const text = (value: number) => (value / 10_000).toFixed(4)
        const total = text(parts.reduce((sum, each) => sum + each, 0))
        const written = column(parts.map(text), total)
        const decimals = new Set(written.map((each) => each.split('.')[1]?.length ?? 0))
        expect(decimals.size).toBe(1)
        const [most] = decimals
        const shown = digits((Math.round(Number(total) * 10 ** most!) / 10 ** most!).toFixed(most))
        const sum = written.reduce((all, each) => all + digits(each), 0n)
        // The total itself may be rounded half up or to even.
        expect(Number(sum - shown)).toBeLessThanOrEqual(1)
        expect(Number(sum - shown)).toBeGreaterThanOrEqual(-1)
        parts.forEach((part, at) => {
          const value = Number(digits(written[at]!)) / 10 ** most!
          expect(Math.abs(value - part / 10_000)).toBeLessThanOrEqual(1.01 / 10 ** most!)
        })
      },
    ),
    { numRuns: 200 },
  )
})

test('what is more than an estimate is the difference of both as they are written', () => {
  // 42.934 is written 42.93, and 9.098 is written 9.10.
  expect(amountWriting('de-DE', 'EUR').beyond('42.934', 9.098)).toBe('33.83')
  expect(amountWriting('en', 'credits').beyond('140', 21.83)).toBe('118.2')
  expect(amountWriting('en', 'credits').beyond('919', 202.4)).toBe('717')
  expect(amountWriting('ja', 'JPY').beyond('1200.4', 99.6)).toBe('1100')
  for (const unit of ['EUR', 'credits', 'JPY']) {
    const { one, about, beyond } = amountWriting('en', unit)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900_000_000 }),
        fc.double({ min: 0.01, max: 90_000, noNaN: true }),
        (amount, estimate) => {
          const text = (amount / 10_000).toFixed(4)
          const number = (written: string) => Number(written.replace(/[^\d.]/g, ''))
          const difference = number(one(text)) - number(about(estimate))
          expect(Number(beyond(text, estimate))).toBeCloseTo(difference, 6)
        },
      ),
      { numRuns: 100 },
    )
  }
})

test('shares add up to 100 %, and the greatest is rounded up where a reader does it', () => {
  // 59.557, 25.27 and 15.173 %.
  expect(sharesOf([59_557, 25_270, 15_173])).toEqual([0.596, 0.252, 0.152])
  expect(sharesOf([1, 1, 1])).toEqual([0.334, 0.333, 0.333])
})
