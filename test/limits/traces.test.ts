import { expect, test } from 'vitest'
import type { Band, FullContract, Window } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { LimitedRequest } from '../../src/limits/limited-request.ts'
import type { ServiceClock } from '../../src/limits/service-clock.ts'
import { type Placed, tracesOf } from '../../src/limits/traces.ts'
import { arrivalOf } from './limited-requests.ts'

const minuteUs = 60e6
const placed = (
  atUs: number,
  change: Partial<LimitedRequest> = {},
  [low, high] = [50, 50],
): Placed => ({ ...arrivalOf(atUs, atUs, atUs, change), balance: { low, high } })
const cut = (
  requests: readonly Placed[],
  {
    contract = defaultContract,
    window = 'minute' as Window,
    clock = null as ServiceClock | null,
  } = {},
) => tracesOf(requests, contract, window, clock)
const withFirst = (requests: Partial<Band['requests']>): FullContract => {
  const [first, ...rest] = defaultContract.bands
  const band = { ...first!, requests: { ...first!.requests, ...requests } }
  return { ...defaultContract, bands: [band, ...rest] }
}
const rejected = { decision: 'rejected', status: 429 } as const
const decisions = (...given: Parameters<typeof cut>) =>
  cut(...given).flatMap(({ requests }) => requests.map(({ decision }) => decision))

test('a trace ends if the key rests for more than two windows after its last response', () => {
  const sizes = (requests: readonly Placed[]) =>
    cut(requests).map((trace) => [trace.requests.length, trace.earlierAtMost])
  const first = placed(0, { closedUs: 5e6 })
  expect(sizes([first, placed(1e6), placed(125e6)])).toEqual([[3, Infinity]])
  expect(sizes([first, placed(1e6), placed(125e6 + 1)])).toEqual([
    [2, Infinity],
    [1, 0],
  ])
})

test('a trace has the limit of the band that headers name, or else of the balance', () => {
  const limits = (...requests: readonly Placed[]) =>
    cut(requests).map(({ band, limit, requests: own }) => [band.name, limit, own.length])
  expect(limits(placed(0))).toEqual([['1-100', 20, 1]])
  expect(limits(placed(0, { limit: 60 }))).toEqual([['101-1000', 60, 1]])
  expect(limits(placed(0, { limit: 60, status: 401 }))).toEqual([['1-100', 20, 1]])
  expect(limits(placed(0, { limit: 7 }))).toEqual([['1-100', 20, 1]])
  expect(limits(placed(0, {}, [100, 101]))).toEqual([])
  expect(limits(placed(0, {}, [100, 101]), placed(1))).toEqual([['1-100', 20, 2]])
  expect(limits(placed(0), placed(1, {}, [500, 500]), placed(2))).toEqual([
    ['1-100', 20, 1],
    ['101-1000', 60, 1],
    ['1-100', 20, 1],
  ])
})

test('only the first success shows the count before a trace', () => {
  const earlier = (change: Partial<LimitedRequest>, window: Window = 'minute') =>
    cut([placed(0, change)], { window })[0]!.earlierAtMost
  expect(earlier({ limit: 20, remaining: 15 })).toBe(4)
  expect(earlier({ limit: 20, remaining: 20 })).toBe(0)
  expect(earlier({ limit: 20, remaining: 1 })).toBe(18)
  expect(earlier({ limit: 20, remaining: 0 })).toBe(Infinity)
  expect(earlier({ limit: 20 })).toBe(Infinity)
  expect(earlier({ remaining: 15 })).toBe(Infinity)
  expect(earlier({ limit: 20, remaining: 15, decision: 'unknown' })).toBe(Infinity)
  expect(earlier({ limit: 600, remaining: 500 })).toBe(Infinity)
  expect(earlier({ limit: 600, remaining: 500 }, 'hour')).toBe(99)
  const twice = { contract: withFirst({ hour: 20 }) }
  expect(cut([placed(0, { limit: 20, remaining: 15 })], twice)[0]!.earlierAtMost).toBe(4)
})

test('a rejection belongs to the window that it names, or to any that may be full', () => {
  const named = (limit: number | null, contract = defaultContract) =>
    decisions([placed(0), placed(1), placed(2, { ...rejected, limit })], { contract })[2]
  expect([20, null, 7].map((limit) => named(limit))).toEqual(Array(3).fill('rejected'))
  expect(named(600)).toBe('unknown')
  expect(named(20, withFirst({ hour: 20 }))).toBe('rejected')
  // The hour is full from the third request on; its requests are in the previous trace.
  const later = [0, 1, 2, 200e6, 200e6 + 1].map((atUs) => placed(atUs, atUs > 2e8 ? rejected : {}))
  expect(decisions(later, { contract: withFirst({ hour: 3 }) })[4]).toBe('unknown')
  expect(decisions(later, { contract: withFirst({ hour: 9 }) })[4]).toBe('rejected')
})

test('a rejection beside as many requests as a band allows in flight belongs to no window', () => {
  const [first, ...rest] = defaultContract.bands
  const contract = { ...defaultContract, bands: [{ ...first!, inFlight: 2 }, ...rest] }
  const beside = (closedUs: number) =>
    decisions([placed(0, { closedUs: 10 }), placed(1, { closedUs }), placed(5, rejected)], {
      contract,
    })[2]
  expect(beside(5)).toBe('unknown')
  expect(beside(4)).toBe('rejected')
})

test('a long trace is cut, and requests that ended after the cut have an unknown decision', () => {
  const requests = Array.from({ length: 6_001 }, (_, at) =>
    placed(at * 1e3, at === 5_996 || at === 5_997 ? rejected : {}),
  )
  const ends = [6e6 - 1, 6e6]
  for (const [at, untilUs] of ends.entries()) {
    requests[5_996 + at] = { ...requests[5_996 + at]!, untilUs }
  }
  const found = decisions(requests, { contract: withFirst({ hour: 1e6, day: 1e6 }) })
  expect([found.length, found[5_996], found[5_997]]).toEqual([6_000, 'rejected', 'unknown'])
})

test('an edge is known if the clock is known to within a window', () => {
  const edge = (lowUs: number, highUs: number) =>
    cut([placed(0)], { clock: { lowUs, highUs } })[0]!.edge
  expect(edge(30e6, 90e6)).toEqual({ lowUs: 30e6, highUs: 90e6 })
  expect(edge(30e6, 90e6 + 1)).toBeNull()
  expect(edge(110e6, 120e6)).toEqual({ lowUs: 0, highUs: 10e6 })
  const [trace] = cut([placed(0)])
  expect(trace).toMatchObject({ windowUs: minuteUs, toleranceUs: 120e3, edge: null })
  expect([placed(0), placed(0, rejected)].map(trace!.counted)).toEqual(['yes', 'maybe'])
})
