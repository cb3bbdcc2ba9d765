import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCondition, parseFigure } from '../../src/measure/condition.ts'
import { parseGate } from '../../src/report/compare/gate.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'

const metrics = ['ttft', 'response', 'response_ttft', 'errors'] as const

test.each([
  ['steady/chat.ttft.p99.9 < 1s', 'steady', 'chat', 'ttft', null, 'p99.9'],
  ['steady/ttft.p95 < 1s', 'steady', null, 'ttft', null, 'p95'],
  ['a step of v1.2.response_ttft.mean < 1s', null, 'a step of v1.2', 'response_ttft', null, 'mean'],
  ['ttft.ttft.p95 < 1s', null, 'ttft', 'ttft', null, 'p95'],
  ['errors{model=meta/llama} < 1s', null, null, 'errors', 'model=meta/llama', null],
])('the parts of %s', (text, phase, step, metric, filter, statistic) => {
  const [operator, bound] = ['<', '1s']
  expect(parseCondition(text, metrics)).toEqual({
    ...{ text, phase, step, metric, filter, statistic, operator, bound },
  })
})

test('a statistic alone is of the standard metric, and of none without a standard', () => {
  expect(parseFigure('chat.p95', metrics, 'response')).toMatchObject({
    step: 'chat',
    metric: 'response',
    statistic: 'p95',
  })
  expect(parseFigure('chat.p95', metrics)).toBeNull()
})

test('a threshold and a gate read the same figure from the same words', () => {
  const words = fc.stringMatching(/^[a-z][a-z0-9 .-]{0,12}[a-z0-9]$/)
  fc.assert(
    fc.property(
      fc.option(words, { nil: null }),
      fc.constantFrom('service', 'response', 'ttft', 'tpot'),
      fc.constantFrom('p50', 'p90', 'p95', 'p99', 'mean'),
      (step, metric, statistic) => {
        const figure = `${step === null ? '' : `${step}.`}${metric}.${statistic}`
        const threshold = parseThreshold(`${figure} < 1s`)
        const gate = parseGate(`${figure} > 10%`)
        expect(threshold).toMatchObject({ phase: null, step, metric })
        expect(gate).toMatchObject({ step, metric, statistic })
      },
    ),
  )
})

test('a name of a thousand words is answered at once', () => {
  const long = `${'a.'.repeat(480)}ttft.p95`
  expect(parseFigure(long, metrics)).toMatchObject({ metric: 'ttft' })
  expect(parseFigure(`${long}${long}`, metrics)).toBeNull()
})
