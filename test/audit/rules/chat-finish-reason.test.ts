import { expect, test } from 'vitest'
import { audit } from '../../../src/audit/audit.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../../report/attempts.ts'
import { openStore } from '../../store/opened.ts'

const tool = { type: 'function', function: { name: 'weather', parameters: {} } }

type Body = object | string | null

/** What CHAT-05 says of answers, each with the body of its request; null is a request that was not stored. */
async function judged(answers: readonly (readonly [string, Body])[], streamed = 0) {
  const store = await openStore(':memory:')
  try {
    await enterEndedRun(store)
    await appendAttempts(
      store,
      answers.map(([finishReason], slot) =>
        attempt(slot, { finishReason, streamed, template: slot }),
      ),
    )
    for (const [slot, [, body]] of answers.entries()) {
      if (body === null) continue
      await store.execute(
        `INSERT INTO templates BY NAME SELECT 'a' AS run_id, $1::INTEGER AS template, 's' AS step,
           'POST' AS method, '/v1/chat/completions' AS path, '{}' AS headers, $2 AS body`,
        [slot, typeof body === 'string' ? body : JSON.stringify(body)],
      )
    }
    const { findings } = await audit(store, {
      contract: defaultContract,
      rules: ['CHAT-05'],
      auditId: 'reasons',
      auditedAt: new Date(0),
    })
    return findings[0]!.verdict
  } finally {
    store.close()
  }
}

for (const streamed of [0, 1]) {
  const how = streamed === 1 ? 'a stream' : 'a plain answer'

  test(`${how} that calls a tool of its request may end with the reason of a call`, async () => {
    const answers = [
      ['tool_calls', { tools: [tool] }],
      ['tool_calls', { tools: [tool], tool_choice: 'auto' }],
      ['tool_calls', { tools: [tool], tool_choice: tool }],
      ['function_call', { functions: [tool.function] }],
    ] as const
    expect(await judged(answers, streamed)).toEqual({ verdict: 'pass', observations: 4 })
  })

  test(`${how} without a tool to call fails with the reason of a call`, {
    tags: 'whole',
  }, async () => {
    const answers = [
      ['tool_calls', {}],
      ['tool_calls', { tools: [] }],
      ['tool_calls', { tools: null }],
      ['tool_calls', { tools: [tool], tool_choice: 'none' }],
      ['tool_calls', { functions: [tool.function] }],
      ['tool_calls', 'no JSON'],
    ] as const
    expect(await judged(answers, streamed)).toMatchObject({
      verdict: 'fail',
      observed: '"tool_calls"; 6 of 6 break it',
    })
    expect(await judged([['function_call', { tools: [tool] }]], streamed)).toMatchObject({
      verdict: 'fail',
      observed: '"function_call"',
    })
  })
}

test('other reasons fail also with tools', async () => {
  expect(await judged([['end_turn', { tools: [tool] }]])).toMatchObject({
    verdict: 'fail',
    expected: 'stop or length; tool_calls or function_call to a request with tools or functions',
    observed: '"end_turn"',
  })
})

test('the reason of a call decides nothing if the request was not stored', {
  tags: 'whole',
}, async () => {
  expect(await judged([['tool_calls', null]])).toMatchObject({ verdict: 'not-observed' })
  expect(await judged([['end_turn', null]])).toMatchObject({
    verdict: 'fail',
    observed: '"end_turn"',
  })
})
