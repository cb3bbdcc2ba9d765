import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChargeSums } from '../../../src/audit/evidence/prices/charge-sums.ts'
import { explainedPart } from '../../../src/audit/evidence/prices/explained-part.ts'
import { RequestsByStart } from '../../../src/audit/evidence/prices/requests-by-start.ts'
import type { ReadingStretch } from '../../../src/audit/evidence/prices/stretches.ts'
import { zero } from '../../../src/money/rational.ts'
import { request } from '../../price/made-requests.ts'

/** Requests of a time are found without a look at all others, and are the same. */

const times = fc.array(fc.tuple(fc.nat(100), fc.nat(30)), { maxLength: 30 })
const made = (of: readonly (readonly [number, number])[]) =>
  of.map(([startMs, took], slot) => request({ slot, startMs, endMs: startMs + took }))

test('requests that ran in a time are those that began before its end, and ended at its start or later', () => {
  fc.assert(
    fc.property(times, fc.nat(120), fc.nat(120), (drawn, fromMs, untilMs) => {
      const all = made(drawn)
      const found = new RequestsByStart(all).during(fromMs, untilMs)
      const ran = all.filter((each) => each.startMs < untilMs && each.endMs >= fromMs)
      expect(new Set(found)).toEqual(new Set(ran))
      expect(found).toHaveLength(ran.length)
    }),
  )
})

test('requests that may be charged in a time are those that may be, and the sure ones come first', () => {
  fc.assert(
    fc.property(times, fc.nat(10), fc.nat(120), fc.nat(120), (drawn, within, a, b) => {
      const all = made(drawn)
      const [fromMs, untilMs] = [Math.min(a, b), Math.max(a, b)]
      const charges = all.map((each) => ({
        ...{ request: each, low: zero, high: zero, isComputed: true, isWhole: true },
      }))
      const listed = new ChargeSums(charges, within).listed(fromMs, untilMs, fromMs, untilMs)
      const touching = all.filter(
        (each) => each.startMs <= untilMs && each.endMs + within >= fromMs,
      )
      const isSure = (each: (typeof all)[number]) =>
        each.startMs >= fromMs && each.endMs + within <= untilMs
      expect(new Set(listed)).toEqual(new Set(touching))
      expect(listed.map(isSure)).toEqual(
        listed.map(isSure).toSorted((x, y) => Number(y) - Number(x)),
      )
    }),
  )
})

test('of many stretches, a bounded part is explained, with wrong ones, right ones, and the requests of their time', () => {
  const count = 30_000
  const all = made(Array.from({ length: count }, (_, nth) => [nth * 10, 5] as const))
  const readings = all.map((each) => ({
    ...{ account: 'main', fromMs: each.startMs, untilMs: each.endMs, value: zero, lastUnit: zero },
    ...{ text: '0', request: each },
  }))
  const stretches = readings.slice(1).map(
    (last, at): ReadingStretch => ({
      ...{ first: readings[at]!, last, isWhole: false, taken: zero, low: zero, high: zero },
      ...{ count: 2, requests: () => [], slack: zero, isRight: at % 1000 !== 0 },
      ...{ isOffByPlace: false, isComputed: true, isShown: true, expired: zero },
    }),
  )
  const part = explainedPart(stretches, all, 0)
  expect(part.stretches.length).toBeLessThanOrEqual(10_000)
  expect(part.stretches.filter(({ isRight }) => !isRight)).toHaveLength(30)
  expect(part.stretches.some(({ isRight }) => isRight)).toBe(true)
  const kept = new Set(part.requests)
  for (const { first, last } of part.stretches)
    expect([kept.has(first.request), kept.has(last.request)]).toEqual([true, true])
  // So few are all looked at.
  expect(explainedPart(stretches.slice(0, 100), all, 0)).toEqual({
    ...{ stretches: stretches.slice(0, 100), requests: all },
  })
})
