import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Answers each request with `ok`; a second after the first it closes, or soon sends another answer.
 */

const does = workerData as string
const response = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url))

function serve(socket: Socket): void {
  socket.setNoDelay()
  socket.on('error', () => {})
  socket.on('data', () => {
    socket.write(response('ok'))
    if (does.endsWith('twice')) setTimeout(() => socket.write(response('evil')), 50)
  })
  if (does.endsWith('closes')) socket.once('data', () => setTimeout(() => socket.destroy(), 1000))
}

const server = does.startsWith('https')
  ? createTlsServer({ key: pem('server-key'), cert: pem('server') }, serve)
  : createServer(serve)
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
