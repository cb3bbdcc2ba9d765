import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import {
  fullestWindow,
  idleBursts,
  mayShareAnEdge,
  refillDuring,
} from '../../src/limits/admission.ts'
import { balanceBrackets } from '../../src/limits/balance.ts'
import { bandsNamed, bandsWithin, cellsNamed, edgesOf } from '../../src/limits/band.ts'
import {
  decisionOf,
  type LimitedRequest,
  withUnknownDecision,
} from '../../src/limits/limited-request.ts'
import { otherWindowMayRefuse, pacingOf } from '../../src/limits/other-windows.ts'
import { reachOf } from '../../src/limits/reach.ts'
import { shownTooOften } from '../../src/limits/remaining.ts'
import { serviceClock } from '../../src/limits/service-clock.ts'
import { trailingBrackets } from '../../src/limits/trailing.ts'
import { arrivalOf, byStart } from './limited-requests.ts'

const few = fc.nat({ max: 12 })
const anyRequests = fc
  .array(
    fc.record({
      fromUs: fc.nat({ max: 40 }),
      tookUs: few,
      closesUs: few,
      costCredits: fc.nat({ max: 3 }),
      credits: fc.option(fc.nat({ max: 30 })),
      decision: fc.constantFrom('admitted', 'unknown', 'rejected'),
    }),
    { maxLength: 14 },
  )
  .map((given) =>
    given
      .map(({ fromUs, tookUs, closesUs, ...rest }, slot) =>
        arrivalOf(slot, fromUs, fromUs + tookUs, { ...rest, closedUs: fromUs + tookUs + closesUs }),
      )
      .sort(byStart),
  )
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

/** The definition of a bracket, computed by a walk over all requests for each sum. */
function bracketByDefinition(requests: readonly LimitedRequest[], at: number) {
  const { fromUs, untilUs, credits, costCredits } = requests[at]!
  const costs = (chosen: (request: LimitedRequest) => boolean) =>
    sum(requests.filter(chosen).map((request) => request.costCredits))
  const headers = requests.filter((request) => request.credits !== null)
  const before = headers
    .toSorted((a, b) => a.untilUs - b.untilUs)
    .findLast((request) => request.untilUs <= fromUs)
  const after = headers.find((request) => request.fromUs > untilUs)
  const others =
    costs((each) => each.fromUs <= untilUs) - costs((each) => each.closedUs <= fromUs) - costCredits
  const isUnknown = ({ decision }: LimitedRequest) => decision === 'unknown'
  const refunds =
    costs((each) => isUnknown(each) && each.fromUs <= untilUs) -
    costs((each) => isUnknown(each) && each.closedUs <= (before?.fromUs ?? 0))
  const ceiling = before ? before.credits! + before.costCredits + refunds : Infinity
  if (credits !== null) {
    const [low, high] = [credits - costCredits, credits + costCredits + others]
    return credits > ceiling
      ? [Math.min(low, before!.credits! - before!.costCredits - others), high]
      : [low, Math.max(low, Math.min(high, ceiling))]
  }
  if (after === undefined) return [-Infinity, ceiling]
  return after.credits! > ceiling
    ? [-Infinity, after.credits! + after.costCredits]
    : [after.credits!, ceiling]
}

test('brackets of a balance equal the sums of their definition', () => {
  fc.assert(
    fc.property(anyRequests, (requests) => {
      const { low, high } = balanceBrackets(requests)
      expect(requests.map((_, at) => [low[at], high[at]])).toEqual(
        requests.map((_, at) => bracketByDefinition(requests, at)),
      )
    }),
    { numRuns: 500, seed: 1 },
  )
})

test('the fullest window is the largest difference of two counts', () => {
  fc.assert(
    fc.property(anyRequests, few, fc.nat({ max: 2 }), (requests, windowUs, toleranceUs) => {
      const admitted = requests.filter(({ decision }) => decision === 'admitted')
      const counts = admitted.map(({ untilUs }) => {
        const horizonUs = untilUs - windowUs + toleranceUs
        return (
          admitted.filter((each) => each.untilUs <= untilUs).length -
          admitted.filter((each) => each.fromUs <= horizonUs).length
        )
      })
      const highest = Math.max(0, ...counts)
      const fullest = fullestWindow(requests, windowUs, toleranceUs)
      expect(fullest?.count ?? 0).toBe(highest)
    }),
    { numRuns: 300, seed: 1 },
  )
})

test('the fullest window names its first and its last admission', () => {
  const requests = [0, 50, 60, 70, 151].map((atUs, slot) => arrivalOf(slot, atUs, atUs + 1))
  const fullest = fullestWindow(requests, 100, 1)
  expect([fullest?.count, fullest?.first.slot, fullest?.last.slot]).toEqual([4, 0, 3])
})

const at = (...times: readonly number[]) => times.map((time, slot) => arrivalOf(slot, time, time))
const startsOf = (times: readonly number[], rested: boolean) =>
  idleBursts(at(...times), 2, 100, rested).map(({ requests, startUs, endUs }) => [
    requests.length,
    startUs,
    endUs,
  ])

test('a burst follows a rest of more than two windows and lasts a quarter of one', () => {
  expect(startsOf([0, 25, 25, 26], true)).toEqual([[3, 0, 25]])
  expect(startsOf([0, 25, 26], true)).toEqual([])
  expect(startsOf([0, 1, 2], false)).toEqual([])
  expect(startsOf([0, 1, 2, 203, 204, 205], false)).toEqual([[3, 203, 205]])
  expect(startsOf([0, 200, 201, 202], false)).toEqual([])
  expect(startsOf([0, 1, 2, 202, 203, 204], true)).toEqual([[3, 0, 2]])
})

test('a status shows the decision of the limiter, and for a read only that it was a read', () => {
  const statuses = [null, 101, 199, 200, 299, 300, 399, 400, 428, 429, 430, 499, 500, 503]
  expect(statuses.map((status) => decisionOf(status, 'chat'))).toEqual([
    ...['unknown', 'unknown', 'unknown', 'admitted', 'admitted', 'unknown', 'unknown'],
    ...['refused', 'refused', 'rejected', 'refused', 'refused', 'unknown', 'unknown'],
  ])
  expect([200, 429].map((status) => decisionOf(status, 'credits'))).toEqual(['read', 'rejected'])
  const request = arrivalOf(1, 2, 3, { credits: 4, reset: 5, retryAfterS: 6 })
  expect(withUnknownDecision(request)).toEqual({ ...request, decision: 'unknown' })
})

test('a key rests from the end of its last response', () => {
  const burstsAfter = (closedUs: number, restedAtStart: boolean) => {
    const first = [arrivalOf(0, 0, 1, { closedUs }), arrivalOf(1, 10, 10)]
    const later = [240, 241, 242].map((atUs, slot) => arrivalOf(slot + 2, atUs, atUs))
    return idleBursts([...first, ...later], 2, 100, restedAtStart).length
  }
  expect([39, 40, 90].map((closedUs) => burstsAfter(closedUs, true))).toEqual([1, 0, 0])
  expect([39, 40, 90].map((closedUs) => burstsAfter(closedUs, false))).toEqual([1, 0, 0])
})

test('two bursts share an edge of windows if they are a window apart, within their length', () => {
  const burst = (startUs: number, endUs: number) => ({ requests: [], startUs, endUs })
  const shares = (start: number) => mayShareAnEdge(burst(0, 10), burst(start, start + 5), 100, 2)
  expect([300, 314, 315, 385, 386].map(shares)).toEqual([true, true, false, false, true])
  expect(mayShareAnEdge(burst(386, 391), burst(0, 10), 100, 2)).toBe(true)
  expect(refillDuring(burst(20, 50), 10, 100)).toBe(3)
  expect(refillDuring(burst(20, 51), 10, 100)).toBe(4)
})

test('a value of the limit table names its cells, and a shared balance names two bands', () => {
  const names = (low: number, high: number) =>
    bandsWithin(defaultContract, { low, high }).map(({ name }) => name)
  const [first, second, third, fourth] = defaultContract.bands
  expect(cellsNamed(defaultContract, 2_000)).toEqual([{ band: second, window: 'hour' }])
  expect(bandsNamed(defaultContract, 5_000)).toEqual([first])
  expect(bandsNamed(defaultContract, 5_000)).toBe(bandsNamed(defaultContract, 5_000))
  expect(bandsNamed(defaultContract, 7)).toEqual([])
  expect(names(10_000, 10_000)).toEqual([third!.name, fourth!.name])
  expect(names(100, 101)).toEqual([first!.name, second!.name])
  expect(names(-5, 0)).toEqual([])
  expect(names(1e9, Infinity)).toEqual([fourth!.name])
  expect(edgesOf({ ...defaultContract, bands: defaultContract.bands.toReversed() })).toEqual([
    { lower: first, upper: second },
    { lower: second, upper: third },
    { lower: third, upper: fourth },
  ])
})

test('a limit is reachable if its band holds enough credits, and not with one less', () => {
  const band = { ...defaultContract.bands[0]!, requests: { minute: 10, hour: 60, day: 100 } }
  expect(reachOf(band, 'minute')).toEqual({ reachable: true, credits: 11, minutes: 1 })
  expect(reachOf(band, 'day')).toEqual({ reachable: true, credits: 101, minutes: 100 })
  expect(reachOf({ ...band, maxBalance: 99 }, 'day')).toEqual({
    reachable: false,
    why: 'band 1-100 holds 99 credits, which end before 100 requests',
  })
})

test('the shortest gap between two admissions is the shortest one that is certain', () => {
  const requests = [
    arrivalOf(0, 0, 5),
    arrivalOf(1, 6, 7, { decision: 'rejected' }),
    arrivalOf(2, 30, 32),
    arrivalOf(3, 50, 50),
  ]
  expect(pacingOf(requests)).toEqual({ shortestGapUs: 20 })
  expect(pacingOf(requests.slice(0, 2))).toEqual({ shortestGapUs: Infinity })
  expect(pacingOf([arrivalOf(0, 9, 9), arrivalOf(1, 3, 4)])).toEqual({ shortestGapUs: 0 })
})

test('another window may refuse if it may be full, or if it paces requests', () => {
  const band = { ...defaultContract.bands[0]!, requests: { minute: 2, hour: 3, day: 9 } }
  const mayRefuse = (atUs: number, shortestGapUs = 0, index = 3) =>
    otherWindowMayRefuse(band, 'minute', at(0, 1, 2, atUs), index, { shortestGapUs })
  expect(mayRefuse(7_200e6)).toBe(true)
  expect(mayRefuse(7_200e6 + 1)).toBe(false)
  expect(mayRefuse(2, 0, 2)).toBe(false)
  expect(mayRefuse(9_000e6, 1_176e6)).toBe(true)
  expect(mayRefuse(9_000e6, 1_175e6)).toBe(false)
})

test('a remaining value is repeated too often if more answers show it than the value allows', () => {
  const anyValues = fc.array(fc.option(fc.nat({ max: 8 }), { freq: 8 }), { maxLength: 12 })
  fc.assert(
    fc.property(
      anyValues,
      fc.constantFrom(1, 2),
      fc.nat({ max: 2 }),
      (values, windows, regained) => {
        const requests = values.map((remaining, slot) => arrivalOf(slot, slot, slot, { remaining }))
        const showing = (value: number) =>
          requests.filter(({ remaining }) => remaining !== null && remaining >= value)
        const value = [8, 7, 6, 5, 4, 3, 2, 1, 0].find(
          (each) => values.includes(each) && showing(each).length > windows * (8 - each) + regained,
        )
        const found = shownTooOften(requests, 8, windows as 1 | 2, regained)
        expect(found?.value).toBe(value)
        expect(found?.requests.length).toBe(value === undefined ? undefined : showing(value).length)
      },
    ),
    { numRuns: 300, seed: 1 },
  )
})

test('a trailing bracket holds the lowest and the highest balance of its window', () => {
  const anyEntries = fc
    .array(fc.record({ fromUs: fc.nat({ max: 30 }), low: few, wide: few }), { maxLength: 15 })
    .map((given) => given.sort((a, b) => a.fromUs - b.fromUs))
  fc.assert(
    fc.property(anyEntries, few, (given, windowUs) => {
      const entries = given.map(({ fromUs, low, wide }) => ({
        fromUs,
        balance: { low, high: low + wide },
      }))
      const { low, high } = trailingBrackets(entries, windowUs)
      entries.forEach(({ fromUs }, index) => {
        const inside = entries
          .slice(0, index + 1)
          .filter((each) => each.fromUs >= fromUs - windowUs)
        expect([low[index]! + 0, high[index]]).toEqual([
          Math.min(...inside.map(({ balance }) => balance.low)),
          Math.max(...inside.map(({ balance }) => balance.high)),
        ])
      })
    }),
    { numRuns: 300, seed: 1 },
  )
})

test('the offset of a clock is the range that every Date allows, with 50 ms on either side', () => {
  const dated = (fromS: number, untilS: number, dateS: number | null) =>
    arrivalOf(0, fromS * 1e6, untilS * 1e6, { dateS })
  expect(serviceClock([dated(1, 2, 101), dated(2.5, 3, 102), dated(8, 9, null)])).toEqual({
    lowUs: 98.95e6,
    highUs: 100.55e6,
  })
  expect(serviceClock([dated(1, 1, 101), dated(2, 2, 104)])).toBeNull()
  expect(serviceClock([dated(1, 1, 101), dated(1, 1, 102.1)])).toEqual({
    lowUs: 101.05e6,
    highUs: 101.05e6,
  })
  expect(serviceClock([dated(1, 2, null)])).toBeNull()
})
