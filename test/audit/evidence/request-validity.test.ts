import { expect, test } from 'vitest'
import { validityOf } from '../../../src/audit/evidence/request-validity.ts'
import { defaultContract } from '../../../src/contract/default.ts'

const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const user = { role: 'user', content: 'x' }

test.each([
  ['chat', { messages: [user, { role: 'assistant', content: null, tool_calls: [call] }] }],
  ['chat', { messages: [user, { role: 'tool', tool_call_id: 'c1', content: 'x' }] }],
  ['messages', { messages: [user], max_tokens: 5, system: [{ type: 'text', text: 'x' }] }],
] as const)('what the specification does not mention is open on %s: %j', (format, body) => {
  const { issues, open } = validityOf(defaultContract, format, { model: 'svc-k2', ...body })
  expect(issues).toEqual([])
  expect(open).toHaveLength(1)
})

test.each([
  ['chat', 'CHAT-11', { messages: [{ role: 'tool', content: 'x' }] }],
  ['chat', 'CHAT-11', { messages: [{ role: 'assistant', content: null }] }],
  ['messages', 'MSG-06', { messages: [user], max_tokens: 5, system: 5 }],
] as const)('%s breaks %s: %j', (format, rule, body) => {
  const { issues } = validityOf(defaultContract, format, { model: 'svc-k2', ...body })
  expect(issues.map((issue) => issue.rule)).toEqual([rule])
})

test.each([
  ['chat', 'top_p'],
  ['chat', 'stream_options'],
  ['chat', 'stream'],
  ['messages', 'top_p'],
] as const)('%s: null for %s may be refused', (format, field) => {
  const body = { model: 'svc-k2', messages: [user], max_tokens: 5, [field]: null }
  expect(validityOf(defaultContract, format, body)).toMatchObject({
    issues: [],
    open: [`${field} null`],
  })
})

test('a limit that a contract does not promise leaves open what it would bound', () => {
  const { limits: _, ...unlimited } = defaultContract
  const judged = (body: object) =>
    validityOf(unlimited, 'chat', { model: 'svc-k2', messages: [user], ...body })
  const role = { rule: 'CHAT-11', what: 'role user' }
  expect(judged({ stop: ['a', 'b'] })).toEqual({
    ...{ issues: [], open: ['2 stop sequences without a promised limit'], allowed: [role] },
  })
  expect(judged({ stop: ['a'] }).open).toEqual([])
  expect(judged({ stop: 'a' }).allowed).toEqual([
    role,
    { rule: 'CHAT-12', what: '1 stop sequences' },
  ])
  expect(judged({ max_tokens: 4 })).toEqual({
    ...{ issues: [], open: ['max_tokens without a promised limit'], allowed: [role] },
  })
  expect(judged({ max_tokens: 'many' }).issues).toEqual([
    { rule: 'CHAT-12', what: 'max_tokens that is not an integer' },
  ])
})
