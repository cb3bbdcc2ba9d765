import { expect } from 'vitest'

/** The response to a streamed messages request, in any of the legal formats (G-10). */
export interface StreamedMessage {
  readonly text: string
  readonly outputTokens: number | null
}

export function readMessagesStream(body: string, contentType: string): StreamedMessage {
  if (contentType.includes('json')) {
    const { content, usage } = JSON.parse(body)
    return { text: content.at(-1).text, outputTokens: usage.output_tokens }
  }
  const blocks = body.trimEnd().split('\n\n')
  return blocks.at(-1) === 'data: [DONE]' ? ofChunks(blocks.slice(0, -1)) : ofEvents(blocks)
}

function ofChunks(blocks: readonly string[]): StreamedMessage {
  const chunks = blocks.map((block) => JSON.parse(/^data: (.*)$/.exec(block)![1]!))
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  const usage = chunks.map((chunk) => chunk.usage ?? chunk.choices[0]?.usage).find(Boolean)
  return { text, outputTokens: usage?.completion_tokens ?? null }
}

function ofEvents(blocks: readonly string[]): StreamedMessage {
  const events = blocks.map((block) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!
    const json = JSON.parse(data!)
    expect(json.type).toBe(name)
    return json
  })
  const names = events.map(({ type }) => type)
  expect(names[0]).toBe('message_start')
  expect(names.slice(-2)).toEqual(['message_delta', 'message_stop'])
  const text = events.map(({ delta }) => delta?.text ?? '').join('')
  return { text, outputTokens: events.at(-2).usage.output_tokens }
}
