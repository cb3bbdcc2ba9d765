import { describe, expect, test } from 'vitest'
import { rate09 } from '../../../src/audit/rules/rates/rate-09.ts'
import { evidenceOf, rowOf } from './evidence.ts'

/** The verdict of RATE-09 on successes at these seconds, with what each shows as remaining of 60 a minute. */
const judged = async (
  shown: readonly (readonly [atS: number, remaining: number])[],
  rateLimit = 60,
) =>
  rate09.decide(
    await evidenceOf(
      shown.map(([atS, rateRemaining], slot) =>
        rowOf(slot, atS * 1000, { rateLimit, rateRemaining }),
      ),
    ),
  )

const every = (gapS: number, fromS: number, values: readonly number[]) =>
  values.map((value, nth) => [fromS + nth * gapS, value] as const)
const times = (count: number, value: number) => Array.from({ length: count }, () => value)

describe('a value that does not fall while requests are served', () => {
  test('fails if it stays 0 and the record shows the key unused before', async () => {
    const falling = Array.from({ length: 60 }, (_, nth) => 59 - nth)
    expect(await judged(every(0.1, 0, [...falling, ...times(8, 0)]))).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/^\d more were served after 0 remaining, and 0 remain$/),
    })
  })

  test('fails at any value', async () => {
    const falling = Array.from({ length: 10 }, (_, nth) => 59 - nth)
    expect(await judged(every(0.1, 0, [...falling, ...times(9, 50)]))).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/were served after 50 remaining, and 50 remain$/),
    })
  })

  test('is inconclusive if requests from before the record may have been forgotten meanwhile', async () => {
    expect(await judged(every(0.1, 0, times(9, 0)))).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('more were served after 0 remaining, and 0 remain'),
    })
  })

  test('fails if it stays 0 after more than a window of the record', async () => {
    const before = every(20, 0, [50, 49, 48, 48, 48, 48, 48])
    expect(await judged([...before, ...every(0.1, 200, times(9, 48))])).toMatchObject({
      verdict: 'fail',
      expected: expect.stringContaining('at most'),
    })
  })

  test('is what a bucket shows that regains a token for each', async () => {
    const paced = [...every(0.1, 0, [59, 58, 57]), ...every(1, 1.3, times(12, 57))]
    expect((await judged(paced)).verdict).toBe('pass')
    expect((await judged(every(1.01, 0, times(12, 0)))).verdict).toBe('not-observed')
  })

  test('is what a log shows that forgets as many as came one window earlier', {
    tags: 'whole',
  }, async () => {
    const earlier = every(0.5, 0, [19, 18, 17, 16, 15, 14, 13, 12, 11, 10])
    const later = every(0.5, 60.1, times(9, 10))
    expect((await judged([...earlier, ...later], 20)).verdict).toBe('pass')
    // Without the earlier ones, nothing is forgotten.
    const none = [[0, 19] as const, ...every(0.5, 70, [18, 17, 16, ...times(12, 16)])]
    expect((await judged(none, 20)).verdict).toBe('fail')
  })

  test('is what a new window shows', async () => {
    const first = every(0.1, 0, [3, 2, 1, 0])
    const second = every(0.1, 30, [59, 58, 57, 56])
    expect((await judged([...first, ...second])).verdict).toBe('pass')
  })

  test('is what a service shows that counts a stream at its end', async () => {
    const rows = Array.from({ length: 12 }, (_, nth) =>
      rowOf(nth, nth * 100, {
        ...{ rateLimit: 60, rateRemaining: 59, streamed: 1 },
        closedUs: nth * 100_000 + 5e6,
      }),
    )
    const verdict = await rate09.decide(await evidenceOf(rows))
    expect(verdict).not.toMatchObject({ observed: expect.stringContaining('more were served') })
  })

  test('does not accuse separate counters of the two endpoints, which RATE-15 judges', async () => {
    const rows = Array.from({ length: 24 }, (_, nth) =>
      rowOf(nth, nth * 50, {
        endpoint: nth % 2 === 0 ? 'chat' : 'messages',
        rateLimit: 60,
        rateRemaining: 59 - (nth >> 1),
      }),
    )
    const verdict = await rate09.decide(await evidenceOf(rows))
    expect(verdict).not.toMatchObject({ observed: expect.stringContaining('more were served') })
  })
})

test('answers of which none shows less than the one before it decide nothing', {
  tags: 'whole',
}, async () => {
  expect((await judged(every(30, 0, [59, 59]))).verdict).toBe('not-observed')
  expect((await judged(every(0.1, 0, [59, 58]))).verdict).toBe('pass')
})
