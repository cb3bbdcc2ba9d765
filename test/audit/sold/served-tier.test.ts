import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

const contract = parseContract(
  {
    extends: 'none',
    name: 'tiers',
    models: [{ id: 'svc-k2', served_tiers: [{ tier: 'priority', ttft: 0.5 }] }],
  },
  'tiers.yaml',
)
const template = (number: number, more: object) => ({
  ...{ runId: 'a', template: number, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
  ...{ headers: '{}', maxTokens: 9, n: null, promptHash: null },
  body: JSON.stringify({ model: 'svc-k2', messages: [], ...more }),
})
const templates = [template(0, {}), template(1, { service_tier: 'priority' })]

test('a witness of a slow tier has its own time to the first token, and an unknown time is none', {
  tags: 'whole',
}, async () => {
  // The first five of the paid tier have no first token; the others are as slow as the default.
  const rows = Array.from({ length: 70 }, (_, slot) => {
    const isPaid = slot < 5 || [1, 2].includes(slot % 4)
    const sentUs = slot * 1e6
    const firstUs = slot < 5 ? null : sentUs + 100_000
    return attempt(slot, {
      ...{ template: isPaid ? 1 : 0, promptTokens: 10, completionTokens: 9, sentUs },
      ...{ firstContentUs: firstUs, lastContentUs: firstUs, closedUs: sentUs + 500_000 },
    })
  })
  const verdict = await verdictOver('SOLD-08', rows, { templates, contract })
  if (verdict.verdict !== 'fail') throw new Error(JSON.stringify(verdict))
  expect(verdict.witnesses.map(({ shows }) => shows)).toEqual(
    Array(5).fill('priority, first token after 100.0 ms'),
  )
})

test.each([
  [10, 'pass'],
  [1, 'inconclusive'],
] as const)(
  'a tier that promises its name alone, which %d of 10 answers have: %s',
  async (count, verdict) => {
    const named = parseContract(
      {
        ...{ extends: 'none', name: 'tiers' },
        models: [{ id: 'svc-k2', served_tiers: [{ tier: 'priority' }] }],
      },
      'tiers.yaml',
    )
    const rows = Array.from({ length: 10 }, (_, slot) => attempt(slot, { template: 1 }))
    const bodies = rows.map(({ slot }) => ({
      ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
      body: JSON.stringify(slot < count ? { service_tier: 'priority' } : {}),
    }))
    expect(
      await verdictOver('SOLD-08', rows, { templates, bodies, contract: named }),
    ).toMatchObject({
      verdict,
    })
  },
)
