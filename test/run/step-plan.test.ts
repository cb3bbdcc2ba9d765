import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { StepPlan } from '../../src/run/plan/step-plan.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { key } from './target.ts'

function planOf(step: string): StepPlan {
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
    prompt: null,
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
