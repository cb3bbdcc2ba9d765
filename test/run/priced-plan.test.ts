import { expect, test } from 'vitest'
import { parseContract } from '../../src/contract/load.ts'
import { planHash } from '../../src/run/plan/plan-hash.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

const scenario = parseScenario(
  `name: one
question: Does a plan with prices have a hash?
base_url: http://127.0.0.1:1
model: m
steps: { chat: { endpoint: chat, prompt: Hi. } }
phases: [{ name: main, load: concurrency, users: 1, max_requests: 1 }]
`,
  'one.yaml',
)

test('a plan with a contract of exact prices has a hash, which follows the prices', () => {
  const hashOf = (input: number) =>
    planHash({
      scenario,
      prompts: [],
      seed: 1,
      shards: 1,
      contract: parseContract({ models: [{ id: 'm', price: { input, output: 1 } }] }, 'c.yaml'),
    })
  expect(hashOf(2.5)).toMatch(/^[0-9a-f]{32}$/)
  expect(hashOf(2.5)).not.toBe(hashOf(3))
})
