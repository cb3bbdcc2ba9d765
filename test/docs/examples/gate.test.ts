import { openStore, run, scenarioFrom, startService, summarise } from 'assay'
import { expect, test } from 'vitest'

test('nineteen of twenty chats are answered within a second', async () => {
  // The reference service takes the place of yours.
  const service = await startService()
  const store = await openStore(':memory:')
  const scenario = scenarioFrom({
    name: 'gate',
    question: 'Is a chat answered within a second?',
    model: 'svc-k2',
    steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
    phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 40 }],
  })
  const { runId, counts } = await run(store, {
    scenario,
    baseUrl: service.baseUrl,
    keys: { default: service.keys[1]!.apiKey },
  })
  const { all } = await summarise(store, { runId })
  expect(counts.planned).toBe(40)
  expect(all.metrics.service.p95.us).toBeLessThan(1_000_000)
  store.close()
  await service.close()
}, 30_000)
