import { expect, test } from 'vitest'
import type { TemplateRow } from '../../src/attempt/evidence.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { boundedTemplates, StepPlan } from '../../src/run/plan/step-plan.ts'
import type { PromptFunction } from '../../src/scenario/define.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { key } from './target.ts'

function planOf(step: string, prompt: PromptFunction | null = null): StepPlan {
  const { steps } = parseScenario(
    `{ name: s, question: q, model: svc-k2, steps: { chat: { endpoint: chat, ${step} } },
       phases: [{ name: p, load: constant, rate: 1/s, max_requests: 1 }] }`,
    's.yaml',
  )
  return new StepPlan(steps[0]!, 0, {
    runId: 'r',
    contract: defaultContract,
    basePath: '',
    keys: [{ name: 'default', account: 'main', weight: 1, key }],
    pool: null,
    prompt,
    templateBase: 0,
    nextMade: () => 0,
    onTemplate: () => {},
  })
}

test.each(['Answer', 'user', 'svc-k2'])(
  'the body is whole if the one word of a prompt, %s, occurs in it twice',
  (text) => {
    const plan = planOf('system: Answer, max_tokens: 2, prompt: { synthetic: 1 }')
    const { request } = plan.unique({ text, tokens: 1, isKept: false }, 0)
    const body = JSON.parse(Buffer.from(request.wire.body).toString('utf8'))
    expect(body).toMatchObject({ model: 'svc-k2', max_tokens: 2 })
    expect(body.messages).toEqual([
      { role: 'system', content: 'Answer' },
      { role: 'user', content: text },
    ])
    const other = plan.unique({ text: 'Other', tokens: 1, isKept: false }, 0).request
    expect(JSON.parse(Buffer.from(other.wire.body).toString('utf8')).messages).toEqual([
      { role: 'system', content: 'Answer' },
      { role: 'user', content: 'Other' },
    ])
  },
)

test.each<[() => unknown, string]>([
  [async () => 'hello', 'a promise'],
  [() => Promise.reject(new Error('no prompt')), 'a promise'],
  [() => {}, 'undefined'],
  [() => null, 'null'],
  [() => ({ role: 'user' }), 'object'],
])(
  'a prompt function such as %s, which returns %s, is an error of the scenario',
  (prompt, kind) => {
    // Types are stripped when a scenario runs, so a function may return anything.
    const plan = planOf('prompt: a', prompt as PromptFunction)
    const ask = () => plan.ownPrompt({ index: 2, turn: 0, random: () => 0 })
    expect(ask).toThrow(
      `The prompt function of step chat failed at index 2, turn 0: it returned ${kind}, not a text. Fix it in the scenario.`,
    )
  },
)

test('bodies of templates are kept up to 64 MiB of UTF-8, however many letters these are', () => {
  const kept: boolean[] = []
  const onTemplate = boundedTemplates(({ body }) => kept.push(body !== null))
  const row: TemplateRow = {
    ...{ runId: 'r', template: 0, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
    ...{ headers: '{}', body: '字'.repeat(8 << 20), maxTokens: null, n: null, promptHash: null },
  }
  for (let template = 0; template < 3; template++) onTemplate({ ...row, template })
  expect(kept).toEqual([true, true, false])
})
