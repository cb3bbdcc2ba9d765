import { expect, test } from 'vitest'
import { runJunit } from '../../src/cli/runs/run-junit.ts'

test('a run as JUnit has a case for its verdict and for each threshold, with escaped text', () => {
  const threshold = {
    interval: [null, null],
    bound: 8e5,
    unit: 'us',
    samples: 20,
    needs: null,
    worth: null,
    currency: null,
    amount: null,
    shareOf: null,
    unknown: null,
    unsteady: null,
    of: { metric: 'ttft', statistic: 'percentile', step: null, phase: null, isFiltered: false },
  } as const
  const text = runJunit(
    {
      scenario: 'a & b',
      verdict: { verdict: 'valid', summary: '', tests: [], rowsHold: true },
      thresholds: [
        { ...threshold, text: 'ttft.p95 < 800ms', result: 'held', value: 5e5 },
        { ...threshold, text: 'service.p50 < 1s', result: 'missed', value: 2e6 },
        { ...threshold, text: 'tpot.p99 < 1s', result: 'inconclusive', value: null },
      ],
    },
    new Date(0),
  )
  expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="assay run a &amp; b" tests="4" failures="2" errors="0" skipped="0" time="0" timestamp="1970-01-01T00:00:00">
    <testcase classname="assay.run" name="the run is valid" time="0"></testcase>
    <testcase classname="assay.run" name="ttft.p95 &lt; 800ms" time="0"></testcase>
    <testcase classname="assay.run" name="service.p50 &lt; 1s" time="0"><failure type="missed" message="2.00 s"/></testcase>
    <testcase classname="assay.run" name="tpot.p99 &lt; 1s" time="0"><failure type="inconclusive" message="no samples"/></testcase>
  </testsuite>
</testsuites>
`)
})

test('an invalid run is a failed case with the sentence of its verdict', () => {
  const verdict = {
    verdict: 'invalid',
    summary: 'the client was late',
    tests: [],
    rowsHold: true,
  } as const
  expect(runJunit({ scenario: 's', verdict, thresholds: [] }, new Date(0))).toContain(
    '<failure type="invalid" message="the client was late"/>',
  )
})
