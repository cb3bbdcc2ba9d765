import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Successes whose cost the contract does not have: other models, other endpoints, other cases of a name. */

const templates = ['/user/credits', '/v1/chat/completions', '/v1/images'].map((path, template) => ({
  ...{ runId: 'a', template, step: `s${template}`, path, headers: '{}', body: null },
  ...{ method: template === 0 ? 'GET' : 'POST', maxTokens: null, n: null, promptHash: null },
}))

const use04 = async (sent: Partial<AttemptRow>, after: number) => {
  const credits = { endpoint: 'credits', model: null, template: 0 }
  const rows = [attempt(0, credits), attempt(1, { template: 1, ...sent }), attempt(2, credits)]
  const verdict = await verdictOver('USE-04', rows, {
    templates,
    bodies: [10, after].map((consumed, at) => ({
      ...{ runId: 'a', slot: 2 * at, retry: 0, headers: '', truncated: false },
      body: JSON.stringify({ consumed }),
    })),
  })
  return verdict.verdict
}

test('USE-04 leaves out what costs an unknown amount, and reads names without case', {
  tags: 'whole',
}, async () => {
  expect(await use04({}, 12)).toBe('fail')
  expect(await use04({ model: 'SVC-K2.5' }, 12)).toBe('pass')
  expect(await use04({ model: 'unknown' }, 13)).toBe('not-observed')
  expect(await use04({ endpoint: 'responses' }, 11)).toBe('pass')
  expect(await use04({ endpoint: 'embeddings' }, 11)).toBe('not-observed')
  expect(await use04({ endpoint: 'other', template: 2 }, 15)).toBe('not-observed')
})

const bill10 = async (sent: Partial<AttemptRow>) => {
  const rows = [
    read(0, 0, 100, { template: 0, step: 's0' }),
    inFlight(1, 1, 2, null, sent),
    inFlight(2, 3, 4, 98, { template: 1, step: 's1' }),
    read(3, 5, 98, { template: 0, step: 's0' }),
  ]
  return (await verdictOver('BILL-10', rows, { templates })).verdict
}

test('BILL-10: an embedding, or what asks another endpoint to do something, may cost credits', async () => {
  expect(await bill10({ endpoint: 'embeddings', template: 1, step: 's1' })).toBe('pass')
  expect(await bill10({ endpoint: 'other', template: 2, step: 's2' })).toBe('pass')
  expect(await bill10({ endpoint: 'credits', template: 0, step: 's0' })).toBe('fail')
})
