import { describe, expect, test } from 'vitest'
import { chunk, streamed, upstreamThat } from './broken-server.ts'
import { inFrontOf, remaining } from './relaying.ts'

describe('an upstream that fails is a 5xx and costs nothing', () => {
  test.each([500, 502, 503, 504, 401, 403, 429])('status %i', async (status) => {
    const url = await upstreamThat((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"host db-7.internal is down"}}')
    })
    const { target, key } = await inFrontOf(url)
    for (const stream of [false, true]) {
      const answer = await target.chat({ stream }, key)
      expect(answer.status).toBe(status === 500 || status < 429 ? 500 : 503)
      expect(await answer.text()).not.toContain('db-7')
    }
    expect(await remaining(target, key)).toBe(50)
  })

  test.each([
    [429, '7', '7'],
    [503, 'Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [503, 'soon', null],
  ])('a %i with Retry-After: %s', async (status, there, here) => {
    const url = await upstreamThat((_, response) => {
      response.writeHead(status, { 'retry-after': there }).end('{}')
    })
    const { target, key } = await inFrontOf(url)
    expect((await target.chat({}, key)).headers.get('retry-after')).toBe(here)
  })

  test('a truncated body is an answer that broke off, from a server that was reached', async () => {
    const url = await upstreamThat((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '900' })
      response.write('{"choices":', () => response.destroy())
    })
    const told: string[] = []
    const { target, key } = await inFrontOf(url, { tell: (words: string) => told.push(words) })
    const answer = await target.chat({}, key)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({
      error: { message: 'the upstream broke off; nothing was charged' },
    })
    expect(told).toEqual([expect.stringMatching(/^an answer that was cut short: /)])
    expect(await remaining(target, key)).toBe(50)
  })

  test('configured headers are sent upstream, and their secrets are hidden from clients', async () => {
    const url = await upstreamThat(({ headers }, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ error: { message: `no ${headers['x-route']} ${headers['x-key']}` } }),
      )
    })
    const { target, key } = await inFrontOf(url, {
      headers: [
        { name: 'x-key', value: 'a-secret-of-the-gateway', isSecret: true },
        { name: 'x-route', value: 'b', isSecret: false },
      ],
    })
    expect(await (await target.chat({}, key)).json()).toMatchObject({
      error: { message: 'no b [key]' },
    })
  })

  test.each([1, 3, 7, 20])(
    'a key that is split over deltas of %i letters reaches clients without eight of its letters',
    async (letters) => {
      const secret = 'Zq9-Secret-Of-The-Gateway-77'
      const encodings = [secret, btoa(secret), encodeURIComponent(secret).replaceAll('-', '%2D')]
      const pieces = (text: string) => text.match(new RegExp(`.{1,${letters}}`, 'g')) ?? []
      const url = await upstreamThat((_, response) => {
        const said = encodings.map((text) => `it is ${text}, so`).join(' ')
        response.writeHead(200, streamed).end(
          [
            ...pieces(said).map((content) => chunk({ content })),
            ...pieces(said).map((reasoning_content) => chunk({ reasoning_content })),
            ...pieces(`{"a":"${said}"}`).map((more) =>
              chunk({
                tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: more } }],
              }),
            ),
            chunk({}, 'stop'),
            'data: [DONE]\n\n',
          ].join(''),
        )
      })
      const { target, key } = await inFrontOf(url, {
        headers: [{ name: 'x-key', value: secret, isSecret: true }],
      })
      const deltas = (await (await target.chat({ stream: true }, key)).text())
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .flatMap((line) => JSON.parse(line.slice(6)).choices)
        .map(({ delta }) => delta)
      const texts = [
        deltas.map((delta) => delta.content ?? '').join(''),
        deltas.map((delta) => delta.reasoning_content ?? '').join(''),
        deltas.map((delta) => delta.tool_calls?.[0].function.arguments ?? '').join(''),
      ]
      for (const text of texts) {
        expect(text.match(/it is [^,]{0,20}\[key\]/g)).toHaveLength(3)
        expect(text.match(/, so/g)).toHaveLength(3)
        for (let at = 0; at + 8 <= secret.length; at++)
          expect(text).not.toContain(secret.slice(at, at + 8))
        for (let at = 0; at + 12 <= btoa(secret).length; at++)
          expect(text).not.toContain(btoa(secret).slice(at, at + 12))
      }
    },
  )

  test('an answer with the key of the upstream reaches clients without it', async () => {
    const secret = 'a-secret-of-the-gateway'
    const url = await upstreamThat(({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const key = String(headers['x-key'])
      const message = { role: 'assistant', content: `my key is ${key}`, note: btoa(key) }
      const choices = [{ index: 0, message, finish_reason: key }]
      response.end(JSON.stringify({ choices }))
    })
    const { target, key } = await inFrontOf(url, {
      headers: [{ name: 'x-key', value: secret, isSecret: true }],
    })
    const text = await (await target.chat({}, key)).text()
    expect(text).toContain('my key is [key]')
    expect(text).toContain('"finish_reason":"[key]"')
    expect(text).not.toContain(btoa(secret).slice(4, 16))
  })

  test('if nothing listens there, the operator gets the reason once, and the client only the failure', async () => {
    const told: string[] = []
    const tell = (words: string) => told.push(words)
    const { target, key } = await inFrontOf('http://127.0.0.1:1/v1', { tell })
    await target.chat({}, key)
    const answer = await target.chat({}, key)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      error: { message: 'the upstream cannot be reached; nothing was charged' },
    })
    expect(told).toEqual(['connect ECONNREFUSED 127.0.0.1:1'])
    expect(await remaining(target, key)).toBe(50)
  })

  test('it never answers', async () => {
    const url = await upstreamThat(() => {})
    const told: string[] = []
    const tell = (words: string) => told.push(words)
    const { target, key } = await inFrontOf(url, { tell, timeouts: { streamMs: 50 } })
    const answer = await target.messages({}, key)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'api_error',
        message: 'the upstream did not answer in time; nothing was charged',
      },
    })
    expect(told).toEqual(['an answer that did not end within 0.05 s'])
    expect(await remaining(target, key)).toBe(50)
  })

  test.each([
    ['no JSON', 'text/html', '<h1>hello</h1>'],
    ['no completion', 'application/json', '{}'],
    ['a list', 'application/json', '[]'],
    ['a choice without a message', 'application/json', '{"choices":[{"index":0}]}'],
  ])('it answers %s', async (_, type, body) => {
    const url = await upstreamThat((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    const { target, key } = await inFrontOf(url)
    for (const stream of [false, true]) {
      expect((await target.chat({ stream }, key)).status).toBe(500)
    }
    expect(await remaining(target, key)).toBe(50)
  })

  test.each([
    ['ends without a reason', ''],
    ['is done before its finish reason', 'data: [DONE]\n\n'],
    ['contains an error', 'data: {"error":{"message":"no"}}\n\n'],
    ['contains invalid JSON', 'data: {"cho\n\n'],
  ])('a stream that %s is cut off without its end', async (_, bad) => {
    const passedOn = Promise.withResolvers<void>()
    const url = await upstreamThat(async (_request, response) => {
      response.writeHead(200, streamed).write(chunk({ content: 'one' }))
      await passedOn.promise
      response.end(bad)
    })
    const { target, key } = await inFrontOf(url)
    const answer = await target.chat({ stream: true }, key)
    passedOn.resolve()
    await expect(answer.text()).rejects.toThrow('terminated')
    expect(await remaining(target, key)).toBe(50)
  })

  test.each([
    ['begins with an error', 'data: {"error":{"message":"no"}}\n\n'],
    ['comes in one piece, without its end', `${chunk({ content: 'one' })}data: [DONE]\n\n`],
  ])('a stream that %s is a plain 5xx', async (_, bad) => {
    const url = await upstreamThat((_request, response) => {
      response.writeHead(200, streamed).end(bad)
    })
    const { target, key } = await inFrontOf(url)
    const answer = await target.messages({ stream: true }, key)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(await remaining(target, key)).toBe(50)
  })

  test("the upstream's error in a stream is reported only to the operator", async () => {
    const url = await upstreamThat((_request, response) => {
      response.writeHead(200, streamed).end('data: {"error":{"message":"out of memory"}}\n\n')
    })
    const told: string[] = []
    const { target, key } = await inFrontOf(url, { tell: (words: string) => told.push(words) })
    const answer = await target.chat({ stream: true }, key)
    expect(await answer.text()).not.toContain('memory')
    expect(told).toEqual(['an error in the stream: {"message":"out of memory"}'])
  })

  test('a connection that breaks in mid-stream also breaks for the client', async () => {
    const url = await upstreamThat((_, response) => {
      response.writeHead(200, streamed)
      response.write(chunk({ content: 'one' }), () => response.destroy())
    })
    const { target, key } = await inFrontOf(url)
    const answer = await target.chat({ stream: true }, key)
    await expect(answer.text()).rejects.toThrow('terminated')
    expect(await remaining(target, key)).toBe(50)
  })
})

test.each([
  ['fewer', [0]],
  ['more', [0, 1, 2]],
  ['others', [0, 2]],
])('it answers with %s choices than the two requested', async (_, indexes) => {
  const url = await upstreamThat((_request, response, body) => {
    const message = { role: 'assistant', content: 'one' }
    const choices = indexes.map((index) => ({ index, message, finish_reason: 'stop' }))
    if (!JSON.parse(body).stream) return response.end(JSON.stringify({ choices }))
    const chunks = choices.map(({ index, finish_reason }) => {
      const last = [{ index, delta: { content: 'one' }, finish_reason }]
      return `data: ${JSON.stringify({ choices: last })}\n\n`
    })
    response.writeHead(200, streamed).end(`${chunks.join('')}data: [DONE]\n\n`)
  })
  const { target, key } = await inFrontOf(url)
  for (const stream of [false, true]) {
    expect((await target.chat({ stream, n: 2 }, key)).status).toBe(500)
  }
  expect(await remaining(target, key)).toBe(50)
})
