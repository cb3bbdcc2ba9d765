import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service with a set capacity: one request at a time, 20 ms each, first come first served. */
const serviceMs = 20
const answer = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'svc-k2',
  system_fingerprint: 'fp',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
})

let freeMs = 0
const server = createServer((request, response) => {
  const nowMs = performance.now()
  freeMs = Math.max(freeMs, nowMs) + serviceMs
  request.resume()
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answer)
  }, freeMs - nowMs)
})
server.on('connection', (socket) => socket.setNoDelay(true))
server.listen(0, '127.0.0.1', 4096, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`)
})
