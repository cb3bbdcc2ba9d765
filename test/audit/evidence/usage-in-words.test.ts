import { expect, test } from 'vitest'
import { evidenceOfUsage } from '../../../src/audit/evidence/service-side.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'

test('the usage of a witness is its counts above 0; one without any has 0 tokens', () => {
  const of = (input: number, output: number) =>
    evidenceOfUsage(
      readUsage(
        { input_tokens: input, cache_read_input_tokens: 0, output_tokens: output },
        'anthropic',
      ),
    )
  expect(of(14, 5)).toBe('14 input_uncached, 5 output_visible')
  expect(of(0, 0)).toBe('0 tokens')
  expect(evidenceOfUsage(null)).toBe(null)
})
