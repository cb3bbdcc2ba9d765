import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { withService } from '../e2e/command.ts'
import { hello, serving } from './serving.ts'

function dial(baseUrl: string) {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  return socket
}

/**
 * Begins heads that never end, and waits until the service has closed the last.
 *
 * @returns what was received
 */
async function endlessHeads(drips: boolean): Promise<readonly string[]> {
  const { service } = await serving({ headTimeoutMs: 300 })
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = dial(service.baseUrl)
      let answer = ''
      socket.on('data', (bytes) => (answer += bytes.toString('latin1')))
      socket.write('GET /v1/models HTTP/1.1\r\nX-Slow: ')
      const drip = drips ? setInterval(() => socket.write('x'), 50) : undefined
      // A byte that crosses the end of its connection resets it: that is an end, too.
      await new Promise((resolve) => socket.once('close', resolve))
      clearInterval(drip)
      return answer
    }),
  )
  // Node's own limits end such heads after a minute, so this is ours, however busy the machine is.
  expect(performance.now() - began).toBeLessThan(30_000)
  return answers
}

test('a head that does not end in time is closed with the reason', { tags: 'whole' }, async () => {
  const answers = await endlessHeads(false)
  const why = answers.filter((answer) => answer.includes('the request did not end in time'))
  expect(why).toHaveLength(20)
})

test('a byte at a time does not keep a head open', { tags: 'whole' }, async () => {
  expect(await endlessHeads(true)).toHaveLength(20)
})

/** Bytes of buffers in use: garbage was collected by then. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // A second collection waits for the sweep that the first began.
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}

test('request bodies without a key are not buffered', { tags: 'whole' }, async () => {
  const { service } = await serving()
  const body = Buffer.alloc(12 << 20)
  const before = heldBytes()
  const sockets = Array.from({ length: 20 }, () => {
    const socket = dial(service.baseUrl)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-svc-nobody\r\nContent-Length: ${body.length + 1}\r\n\r\n`,
    )
    socket.write(body)
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'drain')))
  await sleep(50)
  const kept = heldBytes() - before
  expect(kept / 2 ** 20).toBeLessThan(60)
  for (const socket of sockets) socket.destroy()
})

test('bodies of forms and operator calls have a small limit', async () => {
  const target = await serving()
  const form = await target.post('/sign-in', { ...hello, padding: 'x'.repeat(64 << 10) }, {})
  expect(form.status).toBe(400)
  expect(await form.text()).toContain('the body must not exceed 65536 bytes')
})

const idle = 10_000

/** Sends one request and leaves the connection open. @returns what was received */
function askOnce(socket: Socket, key: string): Promise<string> {
  socket.write(`GET /user/credits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString('latin1', 0, 15)))
    socket.once('close', () => resolve('closed'))
  })
}

// Twenty thousand descriptors and half a minute: only at night.
test.skipIf(process.env.NIGHTLY === undefined)(
  'ten thousand idle connections are held, and other requests do not wait',
  () =>
    withService([], async ({ baseUrl, keys }) => {
      const key = keys.at(-1)!.apiKey
      const sockets: Socket[] = []
      const answers: string[] = []
      for (let opened = 0; opened < idle; opened += 500) {
        const batch = Array.from({ length: 500 }, () => dial(baseUrl))
        sockets.push(...batch)
        answers.push(...(await Promise.all(batch.map((socket) => askOnce(socket, key)))))
      }
      expect(answers.filter((answer) => answer !== 'HTTP/1.1 200 OK')).toEqual([])
      const began = performance.now()
      const response = await fetch(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(hello),
      })
      expect(response.status).toBe(200)
      expect(performance.now() - began).toBeLessThan(2000)
      expect(sockets.filter((socket) => socket.closed)).toEqual([])
      for (const socket of sockets) socket.destroy()
    }),
  180_000,
)
