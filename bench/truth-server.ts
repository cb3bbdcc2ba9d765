import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A service that knows the truth about itself: each stream says in its id when, by its own clock,
 * it read the request and wrote its first and last token, and its last event repeats it in full.
 */
const tokens = 50
const ttftMs = 50
const itlMs = 10

const server = createServer((request, response) => {
  const readMs = performance.now()
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let written = 0
  let firstMs = 0
  const next = () => {
    const nowMs = performance.now()
    if (written === 0) firstMs = nowMs
    written++
    const last = written === tokens
    const chunk = {
      id: 'c',
      model: last ? `${(firstMs - readMs).toFixed(3)} ${(nowMs - firstMs).toFixed(3)}` : null,
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: last ? 'stop' : null }],
    }
    const data = `data: ${JSON.stringify(chunk)}\n\n`
    if (last) response.end(`${data}data: [DONE]\n\n`)
    else {
      response.write(data)
      const dueMs = readMs + ttftMs + written * itlMs
      setTimeout(next, Math.max(1, dueMs - performance.now()))
    }
  }
  setTimeout(next, ttftMs)
})
server.on('connection', (socket) => socket.setNoDelay(true))
server.listen(0, '127.0.0.1', 4096, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`)
})
