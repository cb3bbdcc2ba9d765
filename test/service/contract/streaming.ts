import { expect } from 'vitest'
import { type Check, check } from './check.ts'
import { readMessagesStream } from './messages-stream.ts'
import { say } from './target.ts'

const messages = say('eins café – zwei')

/** The data of each event, strictly by §6: one line, then a blank one. */
export function dataOf(text: string): readonly string[] {
  const blocks = text.split('\n\n')
  expect(blocks.pop()).toBe('')
  return blocks
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      expect(block).toMatch(/^data: [^\n]*$/)
      return block.slice(6)
    })
}

export const streamingChecks: readonly Check[] = [
  check('SSE-01', 'a response is a stream if requested, and only then', async (t) => {
    expect((await t.chat({ stream: true })).headers.get('content-type')).toMatch(
      /^text\/event-stream/,
    )
    expect((await t.chat({ stream: false })).headers.get('content-type')).toMatch(/json/)
  }),
  check('SSE-02', 'each event is a line of JSON and a blank line', async (t) => {
    const data = dataOf((await t.chat({ stream: true, messages })).text)
    for (const each of data.slice(0, -1)) expect(JSON.parse(each)).toBeTypeOf('object')
  }),
  check('SSE-03', 'chunks have their fields', async (t) => {
    const data = dataOf((await t.chat({ stream: true, n: 2, messages })).text)
    const chunks = data.slice(0, -1).map((each) => JSON.parse(each))
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    for (const { id, choices } of chunks) {
      expect(typeof id).toBe('string')
      for (const { index, delta } of choices) {
        expect([0, 1]).toContain(index)
        expect(delta).toBeTypeOf('object')
        if ('content' in delta) expect(typeof delta.content).toBe('string')
      }
    }
  }),
  check('SSE-04', 'a stream ends with one [DONE]', async (t) => {
    const data = dataOf((await t.chat({ stream: true })).text)
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1)
    expect(data.at(-1)).toBe('[DONE]')
  }),
  check('SSE-05', 'the pieces join to the plain text', async (t) => {
    for (const body of [{ messages }, { model: 'svc-k2-thinking' }, { stop: ['zwei'], messages }]) {
      const whole = (await t.chat(body)).json.choices[0]
      const chunks = dataOf((await t.chat({ ...body, stream: true })).text)
        .slice(0, -1)
        .flatMap((each) => JSON.parse(each).choices)
      expect(chunks.map(({ delta }) => delta.content ?? '').join('')).toBe(whole.message.content)
      expect(chunks.at(-1).finish_reason).toBe(whole.finish_reason)
    }
  }),
  check('SSE-06', 'a stream arrives in pieces', async (t) => {
    const response = await fetch(t.address.baseUrl + t.contract.paths.chat, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${t.address.key}` },
      body: JSON.stringify({ model: 'svc-k2', stream: true, messages: say('word '.repeat(400)) }),
    })
    // A rate limit may prevent this one; other checks cover limits.
    if (response.status === 429) return
    let arrivals = 0
    for await (const _ of response.body!) arrivals++
    expect(arrivals).toBeGreaterThanOrEqual(2)
  }),
  check('SSE-07', 'a failure before the first token is a plain response', async (t) => {
    for (const answer of [
      await t.chat({ stream: true, model: 'none' }),
      await t.chat({ stream: true, temperature: 9 }),
      await t.chat({ stream: true }, 'wrong'),
      await t.messages({ stream: true, max_tokens: 0 }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.json.error.message).toBeTypeOf('string')
    }
  }),
  check('G-10', 'a messages stream in any format adds up to the message', async (t) => {
    const whole = (await t.messages({ messages })).json
    const { text, headers } = await t.messages({ messages, stream: true })
    const streamed = readMessagesStream(text, headers.get('content-type') ?? '')
    expect(streamed.text).toBe(whole.content.at(-1).text)
    expect([null, whole.usage.output_tokens]).toContain(streamed.outputTokens)
  }),
]
