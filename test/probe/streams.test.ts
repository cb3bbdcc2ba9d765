import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { GapId } from '../../src/contract/profile.ts'
import { probe } from '../../src/probe/probe.ts'
import { openStore } from '../../src/store/session/open.ts'

interface Asked {
  readonly stream?: boolean
  readonly max_tokens: number
}

/** Probes a server that gives these answers to generations, and 404 to everything else. */
async function askedOf(answer: (asked: Asked) => string | number, only: readonly GapId[]) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const bytes of request) body += String(bytes)
    const isChat = request.url!.endsWith('/chat/completions')
    const told = isChat ? answer(JSON.parse(body) as Asked) : 404
    if (typeof told === 'number') return response.writeHead(told).end('{}')
    const type = told.startsWith('data:') ? 'text/event-stream' : 'application/json'
    return response.writeHead(200, { 'content-type': type }).end(told)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const { port } = server.address() as AddressInfo
  const { profile } = await probe({
    ...{ store, contract: defaultContract, baseUrl: `http://127.0.0.1:${port}`, only },
    ...{ runId: 'a', apiKey: 'sk-of-test', secondKey: null, operator: null, maxCredits: 500 },
    ...{
      timeScale: 1,
      startedAt: new Date(0),
      now: () => performance.now() * 1000,
      sleep: async () => {},
    },
    ...{ signal: new AbortController().signal },
  })
  return profile.answers
}

function plain(content: string, finishReason: string): string {
  const message = { role: 'assistant', content }
  return JSON.stringify({ choices: [{ index: 0, message, finish_reason: finishReason }] })
}

function streamed(deltas: readonly string[], usage: object | null): string {
  const chunks = deltas.map((content, at) => ({
    choices: [
      { index: 0, delta: { content }, finish_reason: at === deltas.length - 1 ? 'stop' : null },
    ],
    ...(usage === null ? {} : { usage }),
  }))
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('')
}

test('reasoning is inline even if the text has only its end tag, or its tag comes in pieces', async () => {
  const answers = await askedOf(
    ({ stream }) =>
      stream ? streamed(['<', 'think', '>so', '391'], null) : plain('so</think>391', 'stop'),
    ['G-01'],
  )
  expect(answers['G-01']).toEqual({
    status: 'answered',
    is: {
      chat: 'inline <think>',
      'chat stream': 'inline <think>',
      messages: 'status 404',
      'messages stream': 'status 404',
    },
    evidence: ['model svc-k2-thinking'],
  })
})

test('an answer cut off before its reasoning could end leaves the place of reasoning open', async () => {
  const answers = await askedOf(
    ({ stream }) => (stream ? 503 : plain('so it goes', 'length')),
    ['G-01', 'G-05'],
  )
  expect(answers['G-01']).toMatchObject({
    status: 'ambiguous',
    is: { messages: 'status 404', 'messages stream': 'status 404' },
    between: { chat: ['inline <think>', 'nowhere'] },
  })
  expect(answers['G-01']).not.toHaveProperty(['is', 'chat stream'])
  expect(answers['G-05']).toEqual({
    status: 'not-askable',
    why: 'it was not served: status 404, http_error',
  })
})

test('usage in every chunk of a stream is not taken for usage in the last', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const answers = await askedOf(
    ({ stream }) => (stream ? streamed(['a', 'b', 'c'], usage) : plain('abc', 'stop')),
    ['G-11'],
  )
  expect(answers['G-11']).toMatchObject({ is: { usage: 'several chunks' } })
})
