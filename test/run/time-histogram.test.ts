import fc from 'fast-check'
import { decodeFromCompressedBase64, type JsHistogram } from 'hdr-histogram-js'
import { expect, test } from 'vitest'
import { histogramBytes } from '../../src/run/count/histogram-bytes.ts'
import {
  cellOf,
  highestUs,
  lowestOf,
  TimeHistogram,
  widthOf,
} from '../../src/run/count/time-histogram.ts'

const anyUs = fc.oneof(
  fc.nat({ max: 5000 }),
  fc.nat({ max: 10_000_000 }),
  fc.nat({ max: highestUs }),
)

test('every value falls into a cell that contains it and is at most 0.1 % wide', () => {
  fc.assert(
    fc.property(anyUs, (us) => {
      const cell = cellOf(us)
      expect(lowestOf(cell)).toBeLessThanOrEqual(us)
      expect(us).toBeLessThan(lowestOf(cell) + widthOf(cell))
      expect(widthOf(cell)).toBeLessThanOrEqual(Math.max(1, us / 1000))
    }),
    { numRuns: 2000 },
  )
})

test('cells are contiguous, without overlap', () => {
  const torn = Array.from({ length: cellOf(highestUs) }, (_, cell) => cell).filter(
    (cell) => lowestOf(cell) + widthOf(cell) !== lowestOf(cell + 1),
  )
  expect(torn).toEqual([])
})

test('percentiles are within 0.1 % of the exact ones', () => {
  fc.assert(
    fc.property(fc.array(anyUs, { minLength: 1, maxLength: 300 }), (values) => {
      const histogram = new TimeHistogram()
      for (const us of values) histogram.record(us)
      const sorted = [...values].sort((a, b) => a - b)
      for (const p of [1, 50, 90, 99, 99.9]) {
        const exact = sorted[Math.max(1, Math.ceil((p / 100) * sorted.length)) - 1]!
        expect(Math.abs(histogram.percentile(p)! - exact)).toBeLessThanOrEqual(exact / 1000)
      }
    }),
    { numRuns: 50 },
  )
})

test('merged histograms of threads equal that of one thread with all values', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyUs), { minLength: 1, maxLength: 4 }), (threads) => {
      const merged = new TimeHistogram()
      for (const values of threads) {
        const histogram = new TimeHistogram()
        for (const us of values) histogram.record(us)
        merged.add(histogram.slice())
      }
      const whole = new TimeHistogram()
      for (const us of threads.flat()) whole.record(us)
      expect(merged.slice()).toEqual(whole.slice())
    }),
    { numRuns: 30 },
  )
})

test('a merged percentile is not the mean of the threads’ percentiles', () => {
  // One thread with 90 fast requests, one with 10 slow ones: their p95 must be a slow one.
  const [fast, slow] = [new TimeHistogram(), new TimeHistogram()]
  for (let at = 0; at < 90; at++) fast.record(1000)
  for (let at = 0; at < 10; at++) slow.record(2_000_000)
  const merged = new TimeHistogram()
  merged.add(fast.slice())
  merged.add(slow.slice())
  expect(Math.abs(merged.percentile(95)! / 2_000_000 - 1)).toBeLessThan(0.001)
  expect((fast.percentile(95)! + slow.percentile(95)!) / 2).toBeLessThan(1_100_000)
})

test('taking a histogram empties it, and nothing is taken twice', () => {
  const histogram = new TimeHistogram()
  histogram.record(5)
  histogram.record(70_000)
  expect(histogram.take()!.samples).toBe(2)
  expect(histogram.take()).toBeNull()
  histogram.record(9)
  expect(histogram.take()).toEqual({ from: 9, cells: new Uint32Array([1]), samples: 1 })
})

test('an HDR histogram library reads the stored bytes: each count at its own value', () => {
  fc.assert(
    fc.property(fc.array(anyUs, { maxLength: 300 }), fc.nat({ max: 2 ** 20 }), (values, often) => {
      const histogram = new TimeHistogram()
      for (const us of values) histogram.record(us)
      // Counts of several bytes.
      histogram.add({ from: 70, cells: new Uint32Array([often, 0, often]), samples: 2 * often })
      const decoded = decodeFromCompressedBase64(
        Buffer.from(histogramBytes(histogram.slice())).toString('base64'),
      ) as JsHistogram
      expect(decoded.totalCount).toBe(histogram.samples)
      for (const [us, count] of histogram.filled()) {
        expect(decoded.getCountAtIndex(cellOf(us))).toBe(count)
        expect(decoded.valueFromIndex(cellOf(us))).toBe(us)
      }
    }),
    { numRuns: 50 },
  )
})

test('values above any deadline count as the highest, and negative values as zero', () => {
  const histogram = new TimeHistogram()
  histogram.record(1e12)
  histogram.record(-5)
  expect(histogram.percentile(100)! / highestUs).toBeCloseTo(1, 2)
  expect(histogram.percentile(1)).toBe(0)
})
