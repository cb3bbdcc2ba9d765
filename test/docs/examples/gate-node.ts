import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, run, scenarioFrom, startService, summarise } from 'assay'

test('no request fails, and the median chat takes less than a second', async () => {
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
  const { runId } = await run(store, {
    scenario,
    baseUrl: service.baseUrl,
    keys: { default: service.keys[1]!.apiKey },
  })
  const { all } = await summarise(store, { runId })
  assert.deepEqual([all.counts.sent, all.counts.failed], [40, 0])
  // Null with too few samples, which is not a pass.
  const { us } = all.metrics.service.p50
  assert.ok(us !== null && us < 1_000_000, `p50 is ${us} µs`)
  store.close()
  await service.close()
})
