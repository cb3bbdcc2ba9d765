import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { metricsReference } from '../../src/measure/reference.ts'

test('docs/metrics.md is what the definitions make: npm run metrics', () => {
  const written = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  expect(written).toBe(metricsReference())
})
