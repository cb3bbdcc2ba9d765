import { expect, test } from 'vitest'
import { type Model, mayBeNamed } from '../../src/contract/contract.ts'

const model = (id: string, more: Partial<Model> = {}): Model => ({
  ...{ id, listed: true, reasoning: false },
  ...more,
})
const models = [
  model('gpt-5', { aliases: ['Latest'], snapshots: 'dated' }),
  model('claude'),
  model('anthropic.claude'),
]

test.each([
  ['gpt-5', 'GPT-5'],
  ['gpt-5', 'openai/gpt-5'],
  ['openai/gpt-5', 'gpt-5'],
  ['openai.gpt-5', 'GPT-5'],
  ['latest', 'gpt-5'],
  ['gpt-5', 'gpt-5-2026-10-01'],
  ['latest', 'openai/gpt-5@20261001'],
  ['gpt-5', 'gpt-5-0613'],
  ['gpt-5', 'gpt-5-2411'],
])('a request for %s may be answered as %s', (asked, answered) => {
  expect(mayBeNamed(models, asked, answered)).toBe(true)
})

test.each([
  ['gpt-5', 'gpt-5-mini'],
  // No dates.
  ['gpt-5', 'gpt-5:2048'],
  ['gpt-5', 'gpt-5-8192'],
  ['gpt-5', 'gpt-5-99999999'],
  ['gpt-5', 'gpt-5-2026-13-01'],
  ['gpt-5', 'claude'],
  ['claude', 'claude-2026-10-01'],
  // The contract sells both, so neither stands for the other.
  ['anthropic.claude', 'claude'],
  ['claude', 'anthropic.claude'],
])('a request for %s may not be answered as %s', (asked, answered) => {
  expect(mayBeNamed(models, asked, answered)).toBe(false)
})
