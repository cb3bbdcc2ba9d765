import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { GapId } from '../../src/contract/profile.ts'
import { probe } from '../../src/probe/probe.ts'
import type { Prober } from '../../src/probe/prober.ts'
import { messagesStream } from '../../src/probe/questions/streams.ts'
import { openStore } from '../../src/store/session/open.ts'

interface Asked {
  readonly stream?: boolean
  readonly stream_options?: object
  readonly max_tokens: number
}

/** Probes a server that gives these answers to chat, a text that ends in `BREAK` without its end, and `others` to everything else. */
async function askedOf(
  answer: (asked: Asked) => string | number,
  only: readonly GapId[],
  others = 404,
) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const bytes of request) body += String(bytes)
    const isChat = request.url!.endsWith('/chat/completions')
    const told = isChat ? answer(JSON.parse(body) as Asked) : others
    if (typeof told === 'number') return response.writeHead(told).end('{}')
    const type = told.startsWith('data:') ? 'text/event-stream' : 'application/json'
    response.writeHead(200, { 'content-type': type })
    if (!told.endsWith('BREAK')) return response.end(told)
    return response.write(told.replace('BREAK', ''), () => response.destroy())
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

const bySeveral = (asked: Asked, told: string | number) =>
  asked.stream_options === undefined ? streamed(['a', 'b'], null) : told

test.each([
  [503, 'it was not served: status 503, http_error'],
  [429, 'it was not served: status 429, http_error'],
  [402, 'it was not served: status 402, http_error'],
  ['data: {"choices":[]}\n\nBREAK', 'it was not served: status 200, broken'],
])('a stream with usage that ended by an accident, %s, answers nothing', async (told, why) => {
  const answers = await askedOf((asked) => bySeveral(asked, told), ['G-11'])
  expect(answers['G-11']).toEqual({ status: 'not-askable', why })
})

test('a service that refuses the request for usage is told by its status', async () => {
  const answers = await askedOf((asked) => bySeveral(asked, 400), ['G-11'])
  expect(answers['G-11']).toMatchObject({
    status: 'answered',
    is: { 'usage when asked': 'status 400' },
  })
})

test('usage in a chunk that is not the last is not said to be in the last', async () => {
  const chunk = (usage: object | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }], usage })}\n\n`
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const answers = await askedOf(
    () => `${chunk(usage)}${chunk(null)}${chunk(null)}data: [DONE]\n\n`,
    ['G-11'],
  )
  expect(answers['G-11']).toMatchObject({ is: { usage: 'chunk before the last' } })
})

test.each([429, 402, 401])(
  'a status of the key or the moment, %i, is no form of a stream and no place of reasoning',
  async (status) => {
    const response = { status, columns: { outcome: 'http_error' } }
    const prober = { messages: async () => response } as unknown as Prober
    expect((await messagesStream.ask(prober))['G-10']).toEqual({
      status: 'not-askable',
      why: `it was not served: status ${status}, http_error`,
    })
    const answers = await askedOf(
      ({ stream }) => (stream ? streamed(['a'], null) : plain('a', 'stop')),
      ['G-01'],
      status,
    )
    expect(answers['G-01']).toMatchObject({ status: 'answered' })
    expect(answers['G-01']).toHaveProperty('is', { chat: 'nowhere', 'chat stream': 'nowhere' })
  },
)

test('an accident leaves open what a header of credits means and which key opens an endpoint', async () => {
  const answers = await askedOf(
    ({ stream }) => (stream ? 503 : plain('a', 'stop')),
    ['G-12', 'G-08'],
    503,
  )
  expect(answers['G-12']).toMatchObject({
    status: 'ambiguous',
    between: { 'chat stream': ['absent', 'after own charge', 'before own charge'] },
  })
  expect(answers['G-08']).toMatchObject({
    status: 'ambiguous',
    is: { chat: 'accepted' },
    between: { messages: ['accepted', 'refused'] },
  })
})
