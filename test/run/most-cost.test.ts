import { expect, test } from 'vitest'
import { parseContract } from '../../src/contract/load.ts'
import { AttemptCosts } from '../../src/price/attempts/attempt-costs.ts'
import { mostOfStep } from '../../src/run/money/run-money.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

/** The most that a request with 100 tokens of prompt and 10 of answer can cost, in millionths. */
function mostOf(price: object, body: object): number | null {
  const contract = parseContract({ name: 'g', models: [{ id: 'm', price }] }, 'g.yaml')
  const { steps } = parseScenario(
    JSON.stringify({
      ...{ name: 'a', question: 'b', model: 'm' },
      steps: { chat: { endpoint: 'chat', prompt: 'Hi', max_tokens: 10, body } },
      phases: [{ name: 'main', load: 'concurrency', users: 1, max_requests: 1 }],
    }),
    'a.yaml',
  )
  const costs = new AttemptCosts(contract, contract.prices!)
  const units = mostOfStep(steps[0]!, costs, contract, 100)
  return units === null ? null : Number(units) / 1e12
}

const tokens = { input: 1, output: 10 }
const ownTool = { type: 'function', function: { name: 'look' } }

test.each([
  ['no tools', {}, 200],
  ['tools of the client', { tools: [ownTool] }, 200],
  ['tools of the service', { tools: [{ type: 'web_search' }] }, null],
  ['options of a search', { web_search_options: {} }, null],
  ['plugins', { plugins: [{ id: 'web' }] }, null],
])('a request with %s may cost what bounds it', (_, body, most) => {
  expect(mostOf({ ...tokens, search: '0.01' }, body)).toBe(most)
  expect(mostOf(tokens, body)).toBe(200)
})

test('an answer that may have sound costs as much as all of it in sound', () => {
  expect(mostOf({ ...tokens, output_audio: 100 }, { modalities: ['text', 'audio'] })).toBe(1100)
  expect(mostOf({ ...tokens, output_audio: 100 }, {})).toBe(200)
})
