import fc from 'fast-check'
import { expect, test } from 'vitest'
import { family, histogram } from '../../../src/cli/live/prometheus.ts'
import { TimeHistogram } from '../../../src/run/count/time-histogram.ts'
import { readPrometheus } from './prometheus-text.ts'

test('any text of a label is read back unchanged', { tags: 'whole' }, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (code) => {
      const text = family('assay_errors_total', 'Errors.', [[{ code }, 3]])
      expect(readPrometheus(text).get('assay_errors_total')!.samples).toEqual([
        { name: 'assay_errors_total', labels: new Map([['code', code.toWellFormed()]]), value: 3 },
      ])
    }),
  )
})

test('a histogram counts the samples up to each bound in seconds', () => {
  const times = new TimeHistogram()
  for (const us of [1000, 2000, 30_000, 200e6]) times.record(us)
  const { samples } = readPrometheus(
    histogram('assay_times', 'Times.', [[{ step: 'a' }, times]]),
  ).get('assay_times')!
  const below = new Map(samples.map(({ labels, value }) => [labels.get('le'), value]))
  expect([below.get('0.0025'), below.get('0.02'), below.get('0.04'), below.get('81.92')]).toEqual([
    2, 2, 3, 3,
  ])
  expect(below.get('+Inf')).toBe(4)
  expect(samples.find(({ name }) => name === 'assay_times_sum')!.value).toBeCloseTo(200.033, 0)
})
