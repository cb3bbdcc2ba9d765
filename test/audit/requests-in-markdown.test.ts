import { expect, test } from 'vitest'
import { markdownText } from '../../src/audit/format/machine.ts'

test('Markdown names each request as its service knows it, with the formula of the right amount', () => {
  const service = {
    at: '2026-11-09T10:00:00.123Z',
    ids: ['req-1', 'chatcmpl-1'],
    endpoint: '/v1/chat/completions',
    model: 'large',
    status: 200,
    asked: 'SHA-256 ab, 120 bytes',
    usage: '14 in, 5 out',
    answered: null,
    logged: '0.0002 USD',
    expected: '0.000156 USD',
    formula: '14 input tokens x 4 USD per million + 5 output tokens x 20 USD per million',
  }
  const text = markdownText(
    {
      ...{ auditId: 'a', auditedAt: new Date(0), contract: 'c', runs: [] },
      findings: [
        {
          ...{ rule: 'PRICE-04', severity: 'must', title: 'The log charges what is right' },
          verdict: {
            ...{ verdict: 'fail', observations: 1, expected: 'x', observed: 'y' },
            witnesses: [{ runId: 'r', slot: 1, retry: 0, shows: 'z', service }],
          },
        },
      ],
    },
    new Map(),
  )
  expect(text).toContain('### Requests of PRICE-04')
  expect(text).toContain(
    '| 2026-11-09T10:00:00.123Z | req-1, chatcmpl-1 | /v1/chat/completions | large | 200 | SHA-256 ab, 120 bytes | 14 in, 5 out | - | 0.0002 USD | 0.000156 USD |',
  )
  expect(text).toContain(
    '- 0.000156 USD = 14 input tokens x 4 USD per million + 5 output tokens x 20 USD per million',
  )
})
