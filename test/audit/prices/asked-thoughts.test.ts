import { expect, test } from 'vitest'
import { allowed } from '../../../src/audit/evidence/prices/asked.ts'

const thinkingOf = (asked: object) => allowed(JSON.stringify(asked)).thinking

test('a request that turns thinking off asks not to think', () => {
  for (const asked of [
    { enable_thinking: false },
    { chat_template_kwargs: { enable_thinking: false } },
    { think: false },
    { reasoning_effort: 'none' },
    { reasoning: { effort: 'none' } },
    { reasoning: { enabled: false } },
    { thinking: { type: 'disabled' } },
    { thinking_budget: 0 },
    { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } } },
  ])
    expect([asked, thinkingOf(asked)]).toEqual([asked, 'none'])
})

test('a request that asks for thoughts, or only not to show them, does not turn thinking off', () => {
  for (const asked of [
    { enable_thinking: true },
    { reasoning_effort: 'minimal' },
    { thinking: { type: 'enabled', budget_tokens: 1024 } },
    { thinkingConfig: { thinkingBudget: -1, includeThoughts: false } },
    { include_reasoning: false },
    { reasoning: { exclude: true } },
    { reasoning_format: 'none' },
    { reasoning: { effort: 'high', summary: 'none' } },
    { enable_thinking: false, reasoning_effort: 'high' },
  ])
    expect(['', 'none']).not.toContain(thinkingOf(asked))
  expect(thinkingOf({ messages: [{ reasoning_effort: 'high' }], reasoning: null })).toBe('')
})
