import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ScriptedServer {
  readonly origin: string
  readonly port: number
  /** Connections accepted so far. */
  readonly connections: () => number
  /** Everything that was received, in order of arrival, one entry for each request head. */
  readonly requests: string[]
  readonly server: Server
}

/**
 * A raw TCP server: each request that is complete (head and Content-Length body) is handed to the
 * script, which writes whatever bytes it likes. Closed when the test is over.
 */
export async function scriptedServer(
  script: (socket: Socket, request: string, index: number) => void,
): Promise<ScriptedServer> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    connections++
    sockets.add(socket)
    let received = ''
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => socket.end())
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n')
        if (headEnd === -1) return
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? 0)
        const end = headEnd + 4 + length
        if (received.length < end) return
        const request = received.slice(0, end)
        received = received.slice(end)
        requests.push(request)
        script(socket, request, requests.length - 1)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    requests,
    server,
  }
}

/** A response with a Content-Length. */
export function response(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} X\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** The head of a chunked event stream. */
export const streamHead =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

export const lastChunk = '0\r\n\r\n'
