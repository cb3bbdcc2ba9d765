import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ChargeBounds,
  type ChargeSum,
  ChargeSums,
} from '../../../src/audit/evidence/prices/charge-sums.ts'
import { stretchesOf } from '../../../src/audit/evidence/prices/stretches.ts'
import { currency } from '../../../src/money/money.ts'
import { add, powerOfTen, rational, zero } from '../../../src/money/rational.ts'
import type { PriceJudge } from '../../../src/price/judge/price-judge.ts'
import { modelOf, request } from '../../price/made-requests.ts'

/** Sums of charges between readings of a balance, by prefix sums: the same as by their definition, and as fast as the rows. */

function summed(charges: readonly ChargeBounds[]): ChargeSum {
  const open = charges.filter(({ high }) => high === null).length
  return {
    ...{ count: charges.length, open },
    low: charges.map(({ low }) => low).reduce(add, zero),
    high: open > 0 ? null : charges.map(({ high }) => high!).reduce(add, zero),
    notComputed: charges.filter(({ isComputed }) => !isComputed).length,
    notWhole: charges.filter(({ isWhole }) => !isWhole).length,
  }
}

const cost = fc
  .tuple(fc.bigInt(0n, 50n), fc.constantFrom(1n, 3n, 8n, 1000n))
  .map(([a, b]) => rational(a, b))
const charge = fc
  .record({
    ...{ start: fc.nat(20), length: fc.nat(12), low: cost, more: fc.option(cost) },
    ...{ isComputed: fc.boolean(), isWhole: fc.boolean() },
  })
  .map(
    ({ start, length, low, more, ...is }): ChargeBounds => ({
      request: request({ startMs: start, endMs: start + length }),
      low,
      high: more === null ? null : add(low, more),
      ...is,
    }),
  )

test('the sums are those of the requests that began, ended or span as the definition says', () => {
  const moments = fc.array(fc.tuple(fc.nat(30), fc.nat(30), fc.nat(6)), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(
      fc.array(charge, { maxLength: 12 }),
      fc.nat(5),
      moments,
      (charges, within, times) => {
        const sums = new ChargeSums(charges, within)
        const over = ({ request: { endMs } }: ChargeBounds) => endMs + within
        const ofStart = times.toSorted(([a], [b]) => a - b)
        for (const [from, length, wide] of [ofStart[0]!, ...ofStart]) {
          const end = from + length - 10
          const { surely, behind } = sums.between(from, end)
          expect(surely).toEqual(
            summed(charges.filter((each) => each.request.startMs >= from && over(each) <= end)),
          )
          expect(behind).toEqual(
            summed(charges.filter((each) => each.request.startMs <= from && over(each) > end)),
          )
          const [low, high] = [from - wide, from + length]
          const touching = charges.filter(
            (each) => each.request.startMs <= high && over(each) >= low,
          )
          expect(sums.touching(low, high)).toEqual(summed(touching))
          expect(new Set(sums.listed(low, high, from, end))).toEqual(
            new Set(touching.map((each) => each.request)),
          )
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a balance on each of 60,000 answers is judged in a time that grows as the answers do', {
  tags: 'whole',
  timeout: 60_000,
}, () => {
  const model = modelOf({ price: { request: 2 } }, 'credits')
  const judge: PriceJudge = {
    ...{ currency: currency('credits'), choices: {}, clockErrorMs: 0 },
    ...{ priceOf: () => model, twinOf: () => null },
  }
  const terms = {
    ...{
      get: null,
      header: 'x-left',
      value: null,
      withinMs: 5_000,
      isWithinPromised: true,
      also: [],
      limit: null,
      limitTimes: rational(1n),
      lowest: rational(0n),
      grants: null,
    },
    moves: 'down' as const,
    times: rational(1n),
  }
  const judged = (size: number) => {
    const requests = Array.from({ length: size }, (_, at) =>
      request({ slot: at, startMs: 10 * at, endMs: 10 * at + 5 }),
    )
    const readings = requests.map((each, at) => ({
      ...{ account: 'main', fromMs: each.startMs, untilMs: each.endMs, request: each },
      ...{ value: rational(BigInt(1e9 - 2 * at)), lastUnit: powerOfTen(0), text: String(at) },
    }))
    const before = performance.now()
    const stretches = stretchesOf(readings, requests, terms, judge)
    expect(stretches.filter(({ isRight }) => !isRight)).toEqual([])
    expect(stretches).toHaveLength(size)
    return performance.now() - before
  }
  judged(2_000)
  const [few, many] = [judged(10_000), judged(60_000)]
  // Six times the answers: 36 times the time if each pair of readings read all requests.
  expect(many / few).toBeLessThan(18)
})
