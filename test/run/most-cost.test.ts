import { expect, test } from 'vitest'
import { parseContract } from '../../src/contract/load.ts'
import { AttemptCosts, mostUnits } from '../../src/price/attempts/attempt-costs.ts'
import { mediaOf, mostOfStep } from '../../src/run/money/run-money.ts'
import { planOf } from '../../src/run/plan/plan.ts'
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

test('a prompt with sound or pictures may cost as much as all of it in them', () => {
  const contract = parseContract(
    {
      name: 'g',
      models: [{ id: 'm', price: { input: 4, input_audio: 100, input_image: 50, output: 20 } }],
    },
    'g.yaml',
  )
  const [model] = contract.prices!.models
  const most = (json: string) =>
    Number(
      mostUnits(
        model!,
        { prompt: 1000, output: 0, media: mediaOf(json) },
        { atMs: 0, serviceTier: null, choices: {} },
      ),
    ) / 1e15
  expect(most('{"type":"input_audio","input_audio":{}}')).toBe(100)
  expect(most('{"type":"image_url"}')).toBe(50)
  expect(most('{"content":"Hi"}')).toBe(4)
})

test.each([
  [{ type: 'image_url', image_url: { url: 'https://x.example/y.png' } }, ['input_image']],
  [{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }, ['input_image']],
  [{ inlineData: { mimeType: 'image/png', data: '' } }, ['input_image']],
  [{ file_data: { mime_type: 'image/png', file_uri: 'a' } }, ['input_image']],
  [{ inline_data: { mime_type: 'audio/wav', data: '' } }, ['input_audio']],
  [{ type: 'input_file', file_id: 'a' }, ['input_image']],
  [{ type: 'document', source: { type: 'url', url: 'a' } }, ['input_image']],
  [{ type: 'input_audio', input_audio: {} }, ['input_audio']],
  [{ modalities: ['text', 'image'] }, []],
  [{ properties: { image: { type: 'string' }, input_audio: { type: 'string' } } }, []],
  [{ content: 'Say {"type":"image"}' }, []],
])('%j has beside text: %j', (part, media) => {
  expect(mediaOf(JSON.stringify(part))).toEqual(media)
  expect(mediaOf(JSON.stringify(part, null, 2))).toEqual(media)
})

test.each([
  ['a model that only its body names', { model: null, body: { model: 'm' } }, '0.00017'],
  ['a number of choices that is no number', { body: { n: 'two' } }, '0.000169'],
  ['a bound of its answer in the body', { body: { max_tokens: 20 } }, '0.000271'],
])('the plan of a request with %s costs the most that it can', (_, step, amount) => {
  const contract = parseContract({ name: 'g', models: [{ id: 'm', price: tokens }] }, 'g.yaml')
  const scenario = parseScenario(
    JSON.stringify({
      ...{ name: 'a', question: 'b', model: 'm' },
      steps: { chat: { endpoint: 'chat', prompt: 'Hi', max_tokens: 10, ...step } },
      phases: [{ name: 'main', load: 'constant', rate: '1/s', max_requests: 1 }],
    }),
    'a.yaml',
  )
  const [plan] = planOf(scenario, contract, 1)
  expect(plan!.mostCost).toEqual({ amount, unit: 'USD' })
})
