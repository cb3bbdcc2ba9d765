import { expect, test } from 'vitest'
import { parseThreshold } from '../../src/scenario/threshold.ts'

const all = { phase: null, step: null, filter: {}, abort: false }

test.each([
  [
    'chat.ttft.p95 < 800ms',
    { ...all, step: 'chat', metric: 'ttft', statistic: { kind: 'percentile', p: 95 }, bound: 8e5 },
  ],
  [
    'ttft.p99.9 < 2s',
    { ...all, metric: 'ttft', statistic: { kind: 'percentile', p: 99.9 }, bound: 2e6 },
  ],
  [
    'steady/slow chat.response.median <= 1s',
    {
      ...all,
      phase: 'steady',
      step: 'slow chat',
      metric: 'response',
      operator: '<=',
      statistic: { kind: 'percentile', p: 50 },
      bound: 1e6,
    },
  ],
  [
    'errors{code=429} < 1%',
    {
      ...all,
      metric: 'errors',
      filter: { code: '429' },
      statistic: { kind: 'share' },
      bound: 0.01,
    },
  ],
  [
    'chat.errors.count == 0',
    {
      ...all,
      step: 'chat',
      metric: 'errors',
      operator: '==',
      statistic: { kind: 'count' },
      bound: 0,
    },
  ],
  [
    'goodput > 0.99',
    { ...all, metric: 'goodput', operator: '>', statistic: { kind: 'share' }, bound: 0.99 },
  ],
  [
    'requests.rate >= 20/s',
    { ...all, metric: 'requests', operator: '>=', statistic: { kind: 'rate' }, bound: 20 },
  ],
  [
    'credits <= 100',
    { ...all, metric: 'credits', operator: '<=', statistic: { kind: 'count' }, bound: 100 },
  ],
])('%s is parsed', (text, expected) => {
  const boundText = text.split(' ').at(-1)
  expect(parseThreshold(text)).toEqual({ text, operator: '<', boundText, ...expected })
})

test.each([
  ['chat.ttft.p95', 'a threshold such as'],
  ['chat.speed < 3s', 'a metric before <, one of service, response, ttft'],
  ['chat.ttft < 3s', 'a statistic after ttft'],
  ['ttft.p95 < 3', 'a time such as 800ms'],
  ['ttft.p100 < 3s', 'a percentile between'],
  ['errors < 3', 'a share such as 1%'],
  ['errors{colour=red} < 3%', 'filters such as {code=429}'],
  ['goodput.p95 > 1%', 'a statistic of goodput'],
])('%s is refused with the expected form', (text, expected) => {
  expect(parseThreshold(text)).toContain(expected)
})
