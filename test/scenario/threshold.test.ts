import { expect, test } from 'vitest'
import { parseThreshold } from '../../src/scenario/threshold.ts'

const all = { phase: null, step: null, filter: {}, abort: false, ownLimit: null }

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

/** 300 ms, and 0.2 ms for each token of the prompt. */
const byInput = { us: 3e5, usPerInputToken: 200, usPerOutputToken: 0 }

test.each([
  ['ttft.p95 < 300ms + 0.2ms/input_token', 0.95, { limit: byInput, isStrict: true }],
  ['ttft.median <= 0.2ms/input_token+300ms', 0.5, { limit: byInput, isStrict: false }],
  ['ttft < 300ms + 0.2ms/input_token', 1, { limit: byInput, isStrict: true }],
  ['ttft.max < 300ms + 0.2ms/input_token', 1, { limit: byInput, isStrict: true }],
  [
    'service.p99 < 1s + 1s500ms + 0.0005ms/input_token + 30ms/output_token',
    0.99,
    { limit: { us: 2.5e6, usPerInputToken: 0.5, usPerOutputToken: 30_000 }, isStrict: true },
  ],
])('%s asks for the share of the requests that are within their own limits', (text, bound, own) => {
  expect(parseThreshold(text)).toMatchObject({
    ...{ text, operator: '>=', statistic: { kind: 'share' }, bound, ownLimit: own },
  })
})

test('a limit that grows by nothing is the same for all', () => {
  expect(parseThreshold('ttft.p95 < 300ms + 0ms/input_token')).toMatchObject({
    ...{ statistic: { kind: 'percentile', p: 95 }, bound: 3e5, ownLimit: null },
  })
})

test.each([
  [
    'ttft.p95 < 300ms + 0.2ms/token',
    'a time such as 800ms, 300ms + 0.2ms/input_token or 5s + 30ms/output_token',
  ],
  ['ttft.p95 < 300ms + 0.0000001ms/input_token', 'a time such as 800ms, 300ms + 0.2ms/input_token'],
  [`ttft.p95 < ${'9'.repeat(400)}s`, 'a time such as 800ms'],
  ['ttft.p95 < 300ms + 0.2/input_token', 'or 5s + 30ms/output_token as bound of ttft'],
  ['ttft.p95 < 300ms + 0.2ms/input_tokens', 'a time such as 800ms, 300ms + 0.2ms/input_token'],
  ['ttft.p95 < 300ms - 0.2ms/input_token', 'a time such as 800ms, 300ms + 0.2ms/input_token'],
  ['ttft.p95 < 300ms +', 'a time such as 800ms, 300ms + 0.2ms/input_token'],
  ['ttft.p95 > 300ms + 0.2ms/input_token', '< or <= before a limit that grows'],
  ['ttft.mean < 300ms + 0.2ms/input_token', 'or no statistic, which means every request; not mean'],
  ['ttft.p100 < 300ms + 0.2ms/input_token', 'a percentile between'],
  ['itl.p99 < 20ms + 1ms/output_token', 'itl is not of one request'],
  ['task.p95 < 20s + 1ms/output_token', 'task is not of one request'],
  ['errors < 1ms/input_token', 'a share such as 1%'],
])('%s is refused with the form of a limit', (text, expected) => {
  expect(parseThreshold(text)).toContain(expected)
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
