/**
 * The foreign API under a path prefix, in its own thread: its starter blocks on other processes.
 */
import { createServer } from 'node:http'
import { parentPort } from 'node:worker_threads'
import { answerTo } from '../foreign/api.js'

const prefix = '/openai'

const server = createServer((request, response) => {
  let text = ''
  request.on('data', (bytes) => {
    text += bytes
  })
  request.on('end', () => {
    const isOurs = request.url.startsWith(prefix)
    const path = isOurs ? request.url.slice(prefix.length) : '/nowhere'
    const { status, type, body } = answerTo(request.method, path, request.headers, text)
    response.writeHead(status, { 'content-type': type }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
