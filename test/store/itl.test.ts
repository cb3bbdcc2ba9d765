import fc from 'fast-check'
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type JsHistogram,
} from 'hdr-histogram-js'
import { expect, test } from 'vitest'
import { readItl } from '../../src/store/read/itl.ts'
import type { Session } from '../../src/store/session/session.ts'

/** A histogram of the library with the layout of the recorder. */
function histogramOf(samples: readonly (readonly [us: number, count: number])[]): JsHistogram {
  const histogram = build({
    ...{ bitBucketSize: 64, autoResize: true, highestTrackableValue: 1e8 },
    ...{ lowestDiscernibleValue: 1, numberOfSignificantValueDigits: 3 },
  }) as JsHistogram
  for (const [us, count] of samples) histogram.recordValueWithCount(us, count)
  return histogram
}

/** Only what a store keeps of it: the cells. */
const storedAndRead = (histogram: JsHistogram) =>
  decodeFromCompressedBase64(encodeIntoCompressedBase64(histogram), 64) as JsHistogram

/** A session whose store holds these histograms, and no single gaps. */
function holding(histograms: readonly JsHistogram[]): Session {
  const rows = histograms.map((each, at) => ({
    step: `step ${at}`,
    hdr: encodeIntoCompressedBase64(each),
  }))
  const session: Pick<Session, 'rows' | 'doubles'> = {
    rows: async <Row>() => rows as Row[],
    doubles: async () => [new Float64Array()],
  }
  return session as Session
}

const samples = fc.array(
  fc.tuple(
    fc.double({ min: -1, max: 7.2, noNaN: true }).map((power) => Math.floor(10 ** power)),
    fc.integer({ min: 1, max: 5000 }),
  ),
  { minLength: 1, maxLength: 30 },
)

test('the figures of gaps are those of HdrHistogram, also where histograms merge', {
  tags: 'whole',
}, async () => {
  await fc.assert(
    fc.asyncProperty(samples, samples, async (some, others) => {
      const gaps = await readItl(holding([histogramOf(some), histogramOf(others)]), 'true')
      for (const [step, own] of [
        ['step 0', some],
        ['step 1', others],
        [null, [...some, ...others]],
      ] as const) {
        const expected = storedAndRead(histogramOf(own))
        const found = gaps.get(step)!
        expect(found.exact).toBe(false)
        expect(found.n).toBe(expected.totalCount)
        expect(found.mean).toBeCloseTo(expected.mean, 6)
        expect(found.max).toBe(expected.maxValue)
        expect(found.min).toBe(expected.getCountAtIndex(0) > 0 ? 0 : expected.minNonZeroValue)
        for (const percent of [0.1, 50, 90, 95, 99, 99.9, 100]) {
          expect(found.atShare(percent / 100)).toBe(expected.getValueAtPercentile(percent))
        }
      }
    }),
  )
})

test('the share of gaps within a bound counts the cell that the bound is in', async () => {
  const gaps = await readItl(
    holding([
      histogramOf([
        [10, 3],
        [20_010, 1],
      ]),
    ]),
    'true',
  )
  const { within } = gaps.get(null)!
  expect([9, 10, 19_999, 20_000, 20_010].map(within)).toEqual([0, 0.75, 0.75, 1, 1])
})

test('a rank that was divided by the number of gaps is found again', async () => {
  const ranks = Array.from({ length: 1000 }, (_, at) => [at + 1, 1] as const)
  const gaps = (await readItl(holding([histogramOf(ranks)]), 'true')).get(null)!
  expect(ranks.map(([rank]) => gaps.atShare(rank / gaps.n))).toEqual(ranks.map(([rank]) => rank))
})
