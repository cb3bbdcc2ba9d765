import { expect, test } from 'vitest'
import { clockShiftMs } from '../../../src/price/judge/clock-shift.ts'
import { momentText, ordersOf } from '../../../src/price/judge/in-order.ts'

test("a service's clock is ahead by what its date lies outside of the request", () => {
  const startMs = Date.parse('2026-11-25T12:00:10.500Z')
  const shift = (date?: string) =>
    clockShiftMs({ startMs, endMs: startMs + 2_000, header: () => date })
  const at = (second: string) => shift(`Wed, 25 Nov 2026 12:00:${second} GMT`)
  expect(at('12')).toBe(0)
  expect(at('13')).toBe(500)
  // A date is cut to whole seconds.
  expect(at('10')).toBe(0)
  expect(at('09')).toBe(-1_500)
  expect([shift(), shift('soon')]).toEqual([0, 0])
  const whole = Date.parse('2026-11-25T12:00:10Z')
  const header = () => 'Wed, 25 Nov 2026 12:00:09 GMT'
  expect(clockShiftMs({ startMs: whole, endMs: whole, header })).toBe(0)
  expect(clockShiftMs({ startMs: whole + 1, endMs: whole + 1, header })).toBe(-1_001)
})

test('two groups stand in as many orders as places can be chosen for one, up to a bound', () => {
  expect([ordersOf(2, 3, 1000), ordersOf(3, 2, 1000), ordersOf(0, 5, 1000)]).toEqual([10, 10, 1])
  expect([252, 20, 6].map((most) => ordersOf(5, 5, most))).toEqual([252, 21, 6])
})

test('a moment is told without its parts of a second', () => {
  expect(momentText(Date.parse('2026-11-25T12:00:03.250Z'))).toBe('2026-11-25 12:00:03 UTC')
})
