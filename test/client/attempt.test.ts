import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import type { Deadlines } from '../../src/client/deadlines.ts'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
} from '../../src/client/request.ts'
import { type SendOnceOptions, sendOnce } from '../../src/client/send-once.ts'
import { UndiciTransport } from '../../src/client/undici/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { chunk, lastChunk, response, scriptedServer, streamHead } from './scripted-server.ts'

const key = 'sk-test-1234567890'
const now = () => performance.now() * 1000
const never: Deadlines = {
  connectUs: Number.POSITIVE_INFINITY,
  firstByteUs: Number.POSITIVE_INFINITY,
  idleUs: Number.POSITIVE_INFINITY,
  totalUs: Number.POSITIVE_INFINITY,
}

function ask(spec: Partial<RequestSpec> = {}) {
  const template = buildTemplate(defaultContract, '', {
    ...plainRequest,
    model: 'svc-k2',
    messages: [{ role: 'user', content: 'Hello' }],
    ...spec,
  })
  return prepareRequest(template, key)
}

async function send(
  origin: string,
  spec: Partial<RequestSpec> = {},
  options: Partial<SendOnceOptions> = {},
) {
  const transport = new UndiciTransport({
    origin,
    maxConnections: Number.POSITIVE_INFINITY,
    connectTimeoutMs: 5000,
  })
  const received = await sendOnce(transport, ask(spec), {
    contract: defaultContract,
    now,
    deadlines: never,
    ...options,
  })
  await transport.close()
  return received
}

const json = { 'Content-Type': 'application/json' }

const completion = JSON.stringify({
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

test('a plain completion fills the row from its headers and its body', async () => {
  const { origin } = await scriptedServer((socket) =>
    socket.write(
      response(
        200,
        {
          ...json,
          Date: 'Fri, 20 Nov 2026 11:00:00 GMT',
          'X-Credits-Remaining': '41',
          'X-RateLimit-Limit': '20',
          'X-RateLimit-Remaining': '19',
          'X-RateLimit-Reset': '12.5',
          'Access-Control-Allow-Origin': '*',
        },
        completion,
      ),
    ),
  )
  const { columns } = await send(origin)
  expect(columns).toMatchObject({
    outcome: 'ok',
    reason: null,
    status: 200,
    creditsRemaining: 41,
    rateLimit: 20,
    rateRemaining: 19,
    rateReset: 12.5,
    retryAfter: null,
    dateS: 1795172400,
    responseId: 'chatcmpl-1',
    responseModel: 'svc-k2',
    finishReason: 'length',
    choices: 2,
    promptTokens: 7,
    completionTokens: 2,
    totalTokens: 9,
    events: 0,
    bytesIn: completion.length,
    flags: flags.jsonType | flags.allowOrigin | flags.captured,
  })
  expect(columns.sentUs!).toBeGreaterThanOrEqual(columns.dispatchedUs!)
  expect(columns.headersUs!).toBeGreaterThan(columns.sentUs!)
  expect(columns.doneUs).toBe(columns.closedUs)
})

const delta = (content: string) =>
  `data: ${JSON.stringify({ id: 'c-9', model: 'svc-k2', choices: [{ index: 0, delta: { content } }] })}\n\n`

test('a stream is stamped at its first text, and its empty first delta does not count', async () => {
  const { origin } = await scriptedServer(async (socket) => {
    socket.write(streamHead + chunk(delta('')))
    await sleep(30)
    socket.write(chunk(delta('a')))
    await sleep(30)
    socket.write(chunk(delta('b')) + chunk('data: [DONE]\n\n') + lastChunk)
  })
  const { columns, events } = await send(origin, { stream: true })
  expect(columns).toMatchObject({
    outcome: 'ok',
    events: 4,
    contentEvents: 2,
    contentReads: 2,
    doneMarks: 1,
    choices: 1,
    responseId: 'c-9',
  })
  expect(columns.firstContentUs! - columns.firstEventUs!).toBeGreaterThan(25_000)
  expect(columns.itlMaxUs).toBe(columns.lastContentUs! - columns.firstContentUs!)
  expect(columns.itlMaxUs!).toBeGreaterThan(25_000)
  expect(events.at(-1)?.data).toBe('[DONE]')
})
