import { expect, test } from 'vitest'
import { likelyRemaining, remainingOf } from '../../../src/credits/said.ts'
import type { JsonObject } from '../../../src/user/json.ts'

test.each<[string, JsonObject]>([
  ['credits of the token', { token_info: { name: 'main', credits_remaining: 97 } }],
  ['a balance of the token', { apiToken: { balance: '97' } }],
  ['a balance of what is called a token', { token: { balance: 97 } }],
  ['credits beside tokens', { tokens: { remaining: 5, remaining_credits: 97 } }],
  ['objects whose names only begin so', { tokenized: { balance: 97 }, requester: { left: 97 } }],
])('%s are what is left', (_, body) => {
  expect(remainingOf(body)).toBe(97)
  expect(likelyRemaining(body)).toBe(97)
})

test.each<[string, JsonObject]>([
  ['requests', { requests: { remaining: 5 } }],
  ['tokens', { tokens: { balance: 5 } }],
  ['tokens of prompts', { prompt_tokens: { remaining: 5 } }],
  ['a quota of tokens', { token_quota: { balance: 5 } }],
  ['a request', { request: { remaining: 5 } }],
])('what is left of %s is no credits', (_, body) => {
  expect(remainingOf(body)).toBeNull()
  expect(remainingOf({ data: { ...body, balance: 97 } })).toBe(97)
})
