import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountWriting } from '../../src/portal/page/columns.ts'

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
