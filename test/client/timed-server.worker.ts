import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { runClock } from '../../src/run/clock.ts'

const nowUs = runClock(0n)

/**
 * A server with known times, in its own thread. The path of a request holds its plan:
 * `/?first=50&gap=10&tokens=20&bytes=0` waits, then writes tokens; `bytes` of padding come with the
 * last one. Every token carries the time of its write on the machine's monotonic clock.
 */
const server = createServer({ noDelay: true }, (socket) => {
  let received = 0
  let wanted = 0
  let path = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    if (received === 0) {
      const head = bytes.toString('latin1')
      path = head.split(' ')[1]!
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      wanted = head.indexOf('\r\n\r\n') + 4 + length
    }
    received += bytes.length
    if (received < wanted) return
    received = 0
    const plan = new URL(path, 'http://x').searchParams
    const number = (name: string) => Number(plan.get(name) ?? 0)
    void answer(number('first'), number('gap'), number('tokens'), number('bytes'))
  })

  async function answer(firstMs: number, gapMs: number, tokens: number, bytes: number) {
    const startMs = performance.now()
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    for (let at = 0; at < tokens; at++) {
      // From the plan's own index, so lateness does not accumulate.
      await sleep(Math.max(0, startMs + firstMs + at * gapMs - performance.now()))
      const isLast = at === tokens - 1
      const padding = isLast ? 'x'.repeat(bytes) : ''
      const finish = isLast ? ',"finish_reason":"stop"' : ''
      const atUs = Math.round(nowUs())
      const event = `data: {"id":"a","choices":[{"index":0,"delta":{"content":"${atUs} ${padding}"}${finish}}]}\n\n`
      socket.write(`${event.length.toString(16)}\r\n${event}\r\n`)
    }
    socket.write('e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n')
  }
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
