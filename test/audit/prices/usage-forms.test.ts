import { expect, test } from 'vitest'
import { audited, contractOf, type Sent } from './paid.ts'

/** Usages of honest services that look like contradictions, and faults beside them. */

const verdictOf = async (rule: string, sends: readonly Sent[], contract = contractOf()) => {
  const verdict = (await audited(sends, null, { contract }))[rule]!
  return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
}

const event = (document: object) => `data: ${JSON.stringify(document)}\n\n`
const stream = (usages: readonly object[]): Sent => ({
  id: 's',
  body: '{"model":"big","stream":true,"messages":"x"}',
  ended: { streamed: 1 },
  answer: `${usages
    .map((usage) => event({ id: 's', choices: [{ delta: { content: 'w ' } }], usage }))
    .join('')}${event({ choices: [{ delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
})
const counts = (completion: number, more: object = {}) => ({
  ...{ prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion },
  ...more,
})

test('PRICE-01: reasoning that a stream tells at its end does not make the output fall', async () => {
  const told = { completion_tokens_details: { reasoning_tokens: 40 } }
  const of = (last: object) => verdictOf('PRICE-01', [stream([counts(30), counts(50), last])])
  expect(await of(counts(60, told))).toBe('pass')
  expect(await of(counts(40))).toMatch(/^the output count falls within a stream/)
})

test('PRICE-01 counts an answer with two issues once', async () => {
  const wrong = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 90 }
  const answer = JSON.stringify({
    usage: { ...wrong, prompt_tokens_details: { cached_tokens: 50 } },
  })
  expect(await verdictOf('PRICE-01', [{ answer }])).not.toMatch(/2 of 1/)
})

const cached = contractOf({
  models: [{ id: 'big', price: { input: 4, output: 20, cache_read: '0.4', cache_write: 5 } }],
})
const asked = (
  question: string,
  read: number,
  written: number,
  more: Partial<Sent> = {},
): Sent => ({
  ...{ endpoint: 'messages', path: '/v1/messages' },
  body: JSON.stringify({ model: 'big', messages: [{ role: 'user', content: question }] }),
  answer: JSON.stringify({
    ...{ type: 'message', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn' },
    usage: {
      ...{ input_tokens: 1010 - read - written, output_tokens: 5 },
      ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
    },
  }),
  ...more,
})

test('PRICE-02: a cache holds the beginning of another prompt, too', {
  tags: 'whole',
}, async () => {
  const of = (...sends: readonly Sent[]) => verdictOf('PRICE-02', sends, cached)
  expect(await of(asked('1', 0, 0), asked('2', 0, 1000), asked('1', 1000, 0))).toBe('pass')
  expect(await of(asked('1', 0, 0), asked('1', 1000, 0))).toMatch(/^reads 1000 cached tokens/)
  expect(await of(asked('1', 0, 0), asked('2', 0, 500), asked('1', 1000, 0))).toMatch(/^reads 1000/)
})

test('PRICE-03: a service may write its tier in another case', { tags: 'whole' }, async () => {
  const contract = contractOf({
    models: [{ id: 'big', price: { input: 4, output: 20 }, service: { flex: { times: '0.5' } } }],
    evidence: { cost: [{ body: 'usage.cost' }] },
  })
  const of = (cost: number) =>
    verdictOf(
      'PRICE-03',
      ['a', 'b', 'c'].map((id) => ({
        id,
        answer: JSON.stringify({ id, service_tier: 'FLEX', usage: { ...counts(5), cost } }),
      })),
      contract,
    )
  expect(await of(0.00007)).toBe('pass')
  expect(await of(0.00014)).toMatch(/0\.00014/)
})
