import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { completion } from '../src/run/self-test/null-answers.ts'

/** A service with a set capacity: one request at a time, 20 ms each, first come first served. */
const serviceMs = 20
let freeMs = 0
const server = createServer((request, response) => {
  const nowMs = performance.now()
  freeMs = Math.max(freeMs, nowMs) + serviceMs
  request.resume()
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(completion)
  }, freeMs - nowMs)
})
server.on('connection', (socket) => socket.setNoDelay(true))
server.listen(0, '127.0.0.1', 4096, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`)
})
