import { expect, test } from 'vitest'
import { askedBytes, promptKey } from '../../../src/audit/evidence/prices/asked.ts'
import { audited, chat, contractOf, left, type Sent } from './paid.ts'

/** Which requests have the same prompt, and how long a prompt may be. */

const keyOf = (body: object, path = '/v1/chat/completions') =>
  promptKey({ path, requestBody: JSON.stringify(body), prompt: 'hash' })
const hello = { model: 'big', messages: [{ role: 'user', content: 'Hi' }] }

test('a stream, its user and its temperature make no other prompt', () => {
  const streamed = { ...hello, stream: true, stream_options: {}, user: 'a', temperature: 0 }
  expect(keyOf(streamed)).toBe(keyOf(hello))
  expect(keyOf({ messages: hello.messages, model: 'big' })).toBe(keyOf(hello))
  const gemini = { contents: [{ parts: [{ text: 'Hi' }] }] }
  expect(keyOf(gemini, '/v1beta/models/g:streamGenerateContent?alt=sse')).toBe(
    keyOf(gemini, '/v1beta/models/g:generateContent'),
  )
  expect(keyOf(hello, '/model/c/converse-stream')).toBe(keyOf(hello, '/model/c/converse'))
})

test.each([
  { system: 'be brief' },
  { instructions: 'be brief' },
  { tools: [{}] },
  { response_format: { type: 'json_object' } },
  { reasoning_effort: 'high' },
  { max_tokens: 5 },
  { contents: [{ parts: [{ text: 'Hello' }] }] },
])('a request with %j has another prompt', (more) => {
  expect(keyOf({ ...hello, ...more })).not.toBe(keyOf(hello))
})

test('another endpoint has another template', () => {
  expect(keyOf(hello, '/v1/messages')).not.toBe(keyOf(hello))
})

test.each([
  { previous_response_id: 'resp_1', input: 'go on' },
  { prompt: { id: 'pmpt_1' } },
  { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
  { messages: [{ content: [{ type: 'document', source: { type: 'url', url: 'https://a.b' } }] }] },
  { messages: [{ content: [{ type: 'video_url', video_url: { url: 'https://a.b/c.mp4' } }] }] },
  { ...hello, tools: [{ type: 'text_editor_20250728', name: 'editor' }] },
])('the bytes of %j do not bound its prompt', (body) => {
  expect(askedBytes(JSON.stringify(body))).toBeNull()
})

test('the bytes of a text bound its prompt, whatever it says', () => {
  const body = JSON.stringify({ messages: [{ content: 'say "url": or "prompt": {}' }] })
  expect(askedBytes(body)).toBe(Buffer.byteLength(body))
})

test.each([{ total: 0.9 }, [0.9], true])('a stated cost of %j is no number', async (cost) => {
  const answer = (id: string, stated: unknown) => ({
    id,
    answer: JSON.stringify({
      id,
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: stated },
    }),
  })
  const contract = contractOf({ evidence: { cost: [{ body: 'usage.cost' }] } })
  const found = await audited([answer('a', 0.00014), answer('b', cost)], null, { contract })
  expect(found['PRICE-03']?.verdict).toBe('inconclusive')
})

test('requests whose prompts are their own are no twins, though one body stands for all of them', async () => {
  const answer = (id: string, prompt: number): Sent => ({
    ...chat(id),
    answer: JSON.stringify({
      id,
      usage: { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 },
    }),
  })
  const counts = async (isShared: boolean) => {
    const sends = [answer('a', 10), answer('b', 11)].map((each) => ({ ...each, isShared }))
    return (await audited(sends, ['0', '0.000284']))['PRICE-02']!.verdict
  }
  expect(await counts(true)).toBe('not-observed')
  expect(await counts(false)).toBe('fail')
  // A long prompt that the client left is no twin of a short one.
  const { body = '' } = left(1)
  const long: Sent = { ...left(1), isShared: true, body }
  const short: Sent = { ...answer('short', 10), isShared: true, body }
  const spent = (short: number, prompt: number) => short + (prompt * 4 + 12 * 20) / 1e6
  const found = await audited([short, long], ['0', spent(0.00014, 60).toFixed(6)])
  expect(found['PRICE-06']!.verdict).toBe('pass')
})
