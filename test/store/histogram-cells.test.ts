import fc from 'fast-check'
import { build, encodeIntoCompressedBase64, type JsHistogram } from 'hdr-histogram-js'
import { expect, test } from 'vitest'
import { filledCells } from '../../src/store/read/histogram-cells.ts'

const values = fc.array(
  fc.tuple(fc.double({ min: 0, max: 7.2, noNaN: true }), fc.integer({ min: 1, max: 1e6 })),
  {
    maxLength: 40,
  },
)
const layouts = fc.record({
  lowestDiscernibleValue: fc.constantFrom(1, 2, 1000),
  numberOfSignificantValueDigits: fc.constantFrom<1 | 2 | 3 | 4>(1, 2, 3, 4),
})

test('the cells of a histogram are those that HdrHistogram itself lists, in any layout', () => {
  fc.assert(
    fc.property(values, layouts, (samples, layout) => {
      const histogram = build({
        ...layout,
        bitBucketSize: 64,
        autoResize: true,
        highestTrackableValue: 1e8,
      }) as JsHistogram
      for (const [magnitude, count] of samples) {
        histogram.recordValueWithCount(Math.floor(10 ** magnitude), count)
      }
      const listed: object[] = []
      for (let at = 0; at < histogram.countsArrayLength; at++) {
        const count = histogram.getCountAtIndex(at)
        if (count === 0) continue
        const lowest = histogram.valueFromIndex(at)
        listed.push({ lowest, highest: histogram.highestEquivalentValue(lowest), count })
      }
      const bytes = Buffer.from(encodeIntoCompressedBase64(histogram), 'base64')
      expect([...filledCells(bytes)]).toEqual(listed)
    }),
  )
})
