import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { realClock } from '../../src/service/clock.ts'
import { startService } from '../../src/service/start.ts'
import { manualClock } from './manual-clock.ts'
import { hello, serving } from './serving.ts'

const startUs = Date.parse('2026-03-01T00:00:00Z') * 1000

/** Reads a stream piece by piece, while the test moves the clock. */
async function reading(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async until(part: string) {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) break
        text += value
      }
      return text
    },
  }
}

test('a stream that drips for 590 s is not cut', async () => {
  const clock = manualClock(startUs)
  const target = await serving({
    clock,
    shape: { betweenTokensUs: { kind: 'constant', value: 59e6 } },
  })
  const messages = [{ role: 'user', content: 'Repeat after me: 0 1 2 3 4 5 6 7 8 9 end' }]
  const response = await target.chat({ stream: true, messages })
  const stream = await reading(response)
  await stream.until('"content":"0"')
  for (let minute = 0; minute < 30; minute++) clock.advance(59e6)
  expect(await stream.until('[DONE]')).toContain('"content":" end"')
  expect(clock.nowUs() - startUs).toBeGreaterThan(590e6)
})

test('a client that reads nothing until the end gets every byte in order', async () => {
  const clock = manualClock(startUs)
  const n = 4
  const target = await serving({
    clock,
    profile: { maxN: n },
    shape: {
      timeToFirstUs: { kind: 'constant', value: 1_000 },
      betweenTokensUs: { kind: 'constant', value: 1_000 },
      lengthTokens: { kind: 'constant', value: 8_192 },
    },
  })
  const body = { ...hello, n, max_tokens: 8_192 }
  const plain = target.chat(body)
  const asked = request(`${target.service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.key()}` },
  })
  asked.end(JSON.stringify({ ...body, stream: true }))
  const held = async () => (await target.get('/user/credits')).headers.get('x-credits-remaining')
  await expect.poll(held).toBe('999998')
  clock.advance(1_000)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  // More than the buffers of both ends hold: from some token on, the rest must wait.
  clock.advance(8_192_000)
  const text = (await response.setEncoding('utf8').toArray()).join('')
  const said = Array.from({ length: n }, () => '')
  for (const [, data] of text.matchAll(/^data: (\{.*)$/gm)) {
    const [choice] = JSON.parse(data!).choices
    said[choice.index] += choice.delta.content ?? ''
  }
  const { choices } = (await (await plain).json()) as {
    choices: { message: { content: string } }[]
  }
  expect(text.length).toBeGreaterThan(6e6)
  expect(said).toEqual(choices.map(({ message }) => message.content))
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('every header and body has the time of the injected clock', async () => {
  const clock = manualClock(Date.parse('2001-02-03T04:05:06Z') * 1000)
  const target = await serving({ clock, profile: { reset: 'epoch-s' } })
  const plain = await target.chat()
  const { created } = (await plain.json()) as { created: number }
  expect(created).toBe(clock.nowUs() / 1e6)
  expect(plain.headers.get('date')).toBe('Sat, 03 Feb 2001 04:05:06 GMT')
  expect(plain.headers.get('x-ratelimit-reset')).toBe(String(clock.nowUs() / 1e6 + 60))
  const { by_day, entries, to } = (await (await target.get('/user/credits')).json()) as {
    by_day: { date: string }[]
    entries: { at: string }[]
    to: string
  }
  expect(by_day.map(({ date }) => date)).toEqual(['2001-02-03'])
  expect(entries.map(({ at }) => at.slice(0, 19))).toEqual([
    '2001-02-03T04:05:06',
    '2001-02-03T04:05:06',
  ])
  expect(to.slice(0, 19)).toBe('2001-02-03T04:05:06')
})

test('only the clock of the service reads a clock', () => {
  // A relay's deadline is real time of the machine.
  const allowed = ['clock.ts', join('upstream', 'relay.ts')]
  const room = resolve(import.meta.dirname, '../../src/service')
  const breaches = readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !allowed.includes(file))
    .filter((file) =>
      /Date\.now\(|new Date\(\)|performance\.now\(|setTimeout\(|setInterval\(|Math\.random\(/.test(
        readFileSync(join(room, file), 'utf8'),
      ),
    )
  expect(breaches).toEqual([])
})

test('a stream whose client aborts is charged by the profile', async () => {
  for (const [abortedStream, charged] of [
    ['free', 0],
    ['charged', 1],
    ['after-first-token', 1],
  ] as const) {
    const clock = manualClock(startUs)
    const target = await serving({
      clock,
      profile: { abortedStream },
      accounts: [{ name: 'a', balance: 50 }],
      shape: { betweenTokensUs: { kind: 'constant', value: 1e6 } },
    })
    const leaving = new AbortController()
    const response = await fetch(`${target.service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${target.key(1)}` },
      body: JSON.stringify({ ...hello, stream: true }),
    })
    await (await reading(response)).until('"content":"')
    leaving.abort()
    const { account } = target.service.keys[0]!
    expect((await target.chat({ max_tokens: 1 }, target.key(1))).status).toBe(200)
    // The request after it is also charged; the credits held for the aborted one are free again.
    await expect.poll(() => 50 - target.service.operator.balance(account)).toBe(charged + 1)
    const next = await target.chat({ max_tokens: 1 }, target.key(1))
    expect(next.headers.get('x-credits-remaining')).toBe(String(50 - charged - 2))
  }
})

test('a client that aborts before the first token pays nothing by default', async () => {
  const clock = manualClock(startUs)
  const target = await serving({
    clock,
    accounts: [{ name: 'a', balance: 50 }],
    shape: { timeToFirstUs: { kind: 'constant', value: 10e6 } },
  })
  for (const stream of [true, false]) {
    const leaving = new AbortController()
    const request = fetch(`${target.service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${target.key(1)}` },
      body: JSON.stringify({ ...hello, stream }),
    })
    const held = async () =>
      Number((await target.get('/user/credits', target.key(1))).headers.get('x-credits-remaining'))
    await expect.poll(held).toBe(49)
    leaving.abort()
    await expect(request).rejects.toThrow('This operation was aborted')
    await expect.poll(held).toBe(50)
  }
  expect(target.service.operator.balance(target.service.keys[0]!.account)).toBe(50)
})

test('closing the service ends open streams, and charges them by the profile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-close-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dataPath = join(folder, 'ledger.db')
  const service = await startService({
    dataPath,
    faults: ['async-settle=0.5'],
    accounts: [{ name: 'a', balance: 100 }],
    // So far apart that all are still running when the last begins.
    shape: { betweenTokensUs: { kind: 'constant', value: 60e6 } },
  })
  const responses = await Promise.all(
    Array.from({ length: 8 }, () =>
      fetch(`${service.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.keys[0]!.apiKey}` },
        body: JSON.stringify({ ...hello, stream: true }),
      }),
    ),
  )
  const cut = responses.map((response) => expect(response.text()).rejects.toThrow('terminated'))
  await service.close()
  await Promise.all(cut)
  const file = new DatabaseSync(dataPath)
  const { balance, entries } = file
    .prepare('SELECT balance, (SELECT sum(credits) FROM entries) AS entries FROM accounts')
    .get()!
  file.close()
  expect(balance).toBe(entries)
})

test('due tokens are sent before a new connection and each of its requests is handled', async () => {
  const clock = realClock()
  const order: string[] = []
  const catchUp = () => {
    order.push('tokens')
    clock.catchUp()
  }
  const target = await serving({ clock: { ...clock, catchUp } })
  const { hostname, port } = new URL(target.service.baseUrl)
  const socket = connect(Number(port), hostname)
  for (const path of ['/first', '/second']) {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    order.push(answer.toString('latin1').slice(9, 12))
  }
  socket.destroy()
  expect(order).toEqual(['tokens', 'tokens', '404', 'tokens', '404'])
})
