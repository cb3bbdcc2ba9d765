import { once } from 'node:events'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadFullContract } from '../../src/contract/load.ts'
import type { Behaviour } from '../../src/service/behaviour.ts'
import { Call } from '../../src/service/call.ts'
import { chatEvents } from '../../src/service/format/chat.ts'
import { Framer, type Frames } from '../../src/service/http/framer.ts'
import { defaultProfile } from '../../src/service/profile.ts'
import { hello, serving, type Target } from './serving.ts'

const call = new Call(
  {
    sequence: 1,
    id: '00000000010badcafe',
    atUs: 1_800_000_000e6,
    method: 'POST',
    path: '/v1/chat/completions',
    query: '',
    headers: {},
    connection: 1,
    remoteAddress: '127.0.0.1',
    onClosed: () => {},
  },
  Math.random,
)
call.endpoint = 'chat'

const behaviour = {
  events: (about, moment) => chatEvents(about, 'chatcmpl-1', moment, defaultProfile),
  frame: (_, { data }) => `data: ${JSON.stringify(data)}\n\n`,
} satisfies Pick<Behaviour, 'events' | 'frame'> as unknown as Behaviour

test('a chunk with a prepared constant part equals one that is built from scratch', {
  tags: 'whole',
}, () => {
  const quick = new Framer(behaviour, call, defaultProfile, true)
  const slow = new Framer(behaviour, call, defaultProfile, false)
  const piece = fc.record({
    choice: fc.nat(3),
    text: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('the text of a piece')),
    reasoning: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
      const moment = { at: 'pieces', pieces } as const
      expect(bytesOf(quick.frames(moment))).toEqual(bytesOf(slow.frames(moment)))
    }),
  )
  const text = '"'.repeat(10_000)
  const moment = { at: 'pieces', pieces: [{ choice: 0, text, reasoning: false }] } as const
  expect(bytesOf(quick.frames(moment))).toEqual(bytesOf(slow.frames(moment)))
})

/** A copy, because the next frames may overwrite it. */
const bytesOf = ({ buffer, from, to }: Frames) => buffer.toString('latin1', from, to)

/** The response of a connection to these bytes, until this many streams ended or it closed. */
async function raw(target: Target, bytes: string, streams: number): Promise<string> {
  const socket = connect(Number(new URL(target.service.baseUrl).port), '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
    if (text.split('data: [DONE]\n\n').length > streams) socket.end()
  })
  socket.write(bytes)
  await once(socket, 'close')
  return text
}

function question(target: Target, words: string, version = '1.1'): string {
  const messages = [{ role: 'user', content: `Repeat after me: ${words}` }]
  const body = JSON.stringify({ model: 'svc-k2', stream: true, messages })
  return (
    `POST /v1/chat/completions HTTP/${version}\r\nhost: x\r\ncontent-type: application/json\r\n` +
    `authorization: Bearer ${target.key()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const contentsOf = (text: string) =>
  [...text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)]
    .map((match) => JSON.parse(match[1]!))
    .join('')

test('pipelined streams come one after the other, each in its own chunks', async () => {
  const target = await serving({ shape: { betweenTokensUs: { kind: 'constant', value: 2_000 } } })
  const both = question(target, 'α βήτα 🙂 first') + question(target, 'second')
  const [first, second, rest] = (await raw(target, both, 2)).split('0\r\n\r\n')
  for (const [text, words] of [
    [first!, 'α βήτα 🙂 first'],
    [second!, 'second'],
  ] as const) {
    const [head, ...body] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 .*transfer-encoding: chunked/is)
    let bytes = Buffer.from(body.join('\r\n\r\n'))
    let events = ''
    while (bytes.length > 0) {
      const line = bytes.indexOf('\r\n')
      const length = Number.parseInt(bytes.subarray(0, line).toString(), 16)
      events += bytes.subarray(line + 2, line + 2 + length).toString()
      expect(bytes.subarray(line + 2 + length, line + 4 + length).toString()).toBe('\r\n')
      bytes = bytes.subarray(line + 4 + length)
    }
    expect(contentsOf(events)).toBe(words)
    expect(events.endsWith('data: [DONE]\n\n')).toBe(true)
  }
  expect(rest).toBe('')
})

test('an HTTP/1.0 client gets the events without chunks, until the connection ends', async () => {
  const target = await serving()
  const text = await raw(target, question(target, 'once', '1.0'), 2)
  const [head, body] = text.split('\r\n\r\n', 2)
  expect(head).not.toMatch(/transfer-encoding/i)
  expect(body!.startsWith('data: {')).toBe(true)
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(contentsOf(text)).toBe('once')
})

test('an error has the status that another contract gives to its code', async () => {
  const contract = loadFullContract(
    resolve(import.meta.dirname, '../../contracts/open-gateway.yaml'),
  )
  const target = await serving({ contract, accounts: [{ name: 'empty', balance: 0 }] })
  const ask = async (model: string, path = contract.paths.chat) => {
    const bearer = { authorization: `Bearer ${target.key(1)}` }
    const answer = await target.post(path, { ...hello, model }, bearer)
    const { error } = (await answer.json()) as { error: { code: string } }
    return [answer.status, error.code]
  }
  expect(await ask('no-such-model')).toEqual([404, 'model_not_found'])
  expect(await ask('openai/gpt-4o')).toEqual([402, 'insufficient_credits'])
  expect(await ask('openai/gpt-4o', '/v1/nope')).toEqual([404, 'invalid_request'])
})
