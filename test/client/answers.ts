import { setTimeout as sleep } from 'node:timers/promises'
import { chunk, lastChunk, response, scriptedServer, streamHead } from './scripted-server.ts'

/** Answers of a service, from a server that sends what a test gives it. */

export const json = { 'Content-Type': 'application/json' }

export const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'svc-k2',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' },
    { index: 1, message: { role: 'assistant', content: 'Ho' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
})

export const answer = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = json,
) => scriptedServer((socket) => socket.write(response(status, headers, body)))

/** A stream of the given events, each in a write of its own. */
export const stream = (...events: readonly string[]) =>
  scriptedServer(async (socket) => {
    socket.write(streamHead)
    for (const event of events) {
      await sleep(2)
      socket.write(chunk(event))
    }
    socket.write(lastChunk)
  })

export const delta = (content: string, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c-9', model: 'svc-k2', choices: [{ index: 0, delta: { content }, ...more }] })}\n\n`
/** Fields of the last chunk of a choice. */
export const stopped = { finish_reason: 'stop' }
export const done = 'data: [DONE]\n\n'
export const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
