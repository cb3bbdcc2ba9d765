import { expect, test } from 'vitest'
import { firstUniqueTemplate } from '../../src/attempt/evidence.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** Two answers of other prompt tokens to requests of one template. */
const verdictOf = (template: number, promptHash: string | null) =>
  verdictOver(
    'CHAT-09',
    [307, 308].map((promptTokens, slot) => attempt(slot, { template, promptTokens })),
    {
      templates: [
        {
          ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
          ...{ headers: '{}', maxTokens: 1, n: null, promptHash },
          body: '{"model":"svc-k2","messages":[{"role":"user","content":"the first of many"}]}',
        },
      ],
    },
  )

test('prompts of their own that share a template are not equal prompts', async () => {
  expect((await verdictOf(firstUniqueTemplate + 300, null)).verdict).toBe('not-observed')
})

test('equal prompts with other counts fail, whoever recorded them', async () => {
  expect((await verdictOf(7, 'hash')).verdict).toBe('fail')
  expect((await verdictOf(7, null)).verdict).toBe('fail')
})
