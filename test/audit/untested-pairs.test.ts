import { expect, test } from 'vitest'
import { Exchange, type ExchangeRow } from '../../src/audit/evidence/exchange.ts'
import { hasSystemPrompt, untestedPairs } from '../../src/audit/evidence/untested-pairs.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { loadScenario } from '../../src/scenario/parse.ts'

const models = [{ id: 'a', aliases: ['a-old'] }, { id: 'b' }] as unknown as Parameters<
  typeof untestedPairs
>[0]

const success = (model: string, endpoint: string, streamed: number, body: object = {}) =>
  new Exchange({
    ...{ model, endpoint, streamed, outcome: 'ok' },
    requestBody: JSON.stringify(body),
  } as unknown as ExchangeRow)

const system = { messages: [{ role: 'system', content: 'Be brief.' }] }
const everything = (model: string) => [
  success(model, 'chat', 0, { n: 3 }),
  success(model, 'chat', 1, { n: 4 }),
  success(model, 'chat', 0, system),
  success(model, 'chat', 1, system),
  success(model, 'messages', 0, { system: 'Be brief.' }),
  success(model, 'messages', 1, { system: 'Be brief.' }),
]

test('a model in every form, with many choices and a system prompt in each, leaves no pair', () => {
  expect(untestedPairs(models, [...everything('a-old'), ...everything('b')])).toEqual([])
})

test('each model is listed with the forms that no success of it had', () => {
  const failed = new Exchange({
    ...success('b', 'messages', 1).row,
    outcome: 'http_error',
  })
  const seen = [...everything('a'), success('b', 'chat', 0), failed]
  expect(untestedPairs(models, seen)).toEqual([
    'b with chat streamed, messages plain, messages streamed, n of 3 or more, a system prompt',
  ])
  expect(untestedPairs(models, [])).toEqual(['a', 'b'])
})

test('a service without messages lacks none of their forms', () => {
  const chat = everything('a').filter(({ row }) => row.endpoint === 'chat')
  const paths = { chat: '/v1/chat/completions', credits: '/me' }
  expect(untestedPairs(models.slice(0, 1), chat, paths)).toEqual([])
  expect(untestedPairs(models.slice(0, 1), chat, { credits: '/me' })).toHaveLength(2)
})

test('a developer message is a system prompt', () => {
  const messages = [{ role: 'developer', content: 'Be brief.' }]
  expect(hasSystemPrompt(success('a', 'chat', 0, { messages }))).toBe(true)
})

test('an extra is listed with the forms that it was not seen in', () => {
  const seen = [success('a', 'chat', 0, { n: 3, ...system }), success('a', 'chat', 0, { n: 2 })]
  expect(untestedPairs(models.slice(0, 1), seen)).toEqual([
    'a with chat streamed, messages plain, messages streamed',
    'n of 3 or more with chat streamed',
    'a system prompt with chat streamed, messages plain, messages streamed',
  ])
})

test('audit-billing.yaml tests every pair of a model and a form', async () => {
  const file = new URL('../../scenarios/audit-billing.yaml', import.meta.url).pathname
  const { steps, phases } = await loadScenario(file)
  const used = new Set(phases.flatMap((phase) => phase.steps))

  const sent = steps
    .filter(({ name, wrong }) => used.has(name) && wrong === null)
    .filter(({ model }) => model !== null)
    .map(({ model, endpoint, stream, system, body }) =>
      success(model!, endpoint, Number(stream), {
        ...(system === null ? {} : { system }),
        ...body,
      }),
    )
  expect(untestedPairs(defaultContract.models, sent)).toEqual([])
})
