import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ServiceResponse } from '../behaviour.ts'
import type { IncomingRequests } from './incoming-requests.ts'
import type { ResponseWriter } from './response-writer.ts'

/**
 * Answers bytes that are not an HTTP request with an error like any other, and ends the connection.
 * `node:http` would send statuses that the specification does not have, no body, and no headers that
 * let a web page read the error.
 */
export function refuseUnreadable(
  error: Error,
  socket: Socket,
  incoming: IncomingRequests,
  writer: ResponseWriter,
): void {
  const answer = () => {
    // If only the body is unreadable, the request has an endpoint, and the endpoint has a shape.
    const begun = responseOn(socket)?.req
    const call = incoming.callOf(begun ?? { url: '', method: '', headers: {}, socket })
    return writer.refusalOf(call, { kind: 'request', message: wordsOf(error) })
  }
  endWith(socket, answer, error)
}

/**
 * Ends a connection that has no response to write to.
 *
 * @param answer called only if it can be written: after the start of a response it would corrupt it
 */
export function endWith(socket: Socket, answer: () => ServiceResponse, error?: Error): void {
  if (socket.writable && responseOn(socket)?.headersSent !== true) {
    const { status, headers, body } = answer()
    const head = Object.entries({
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n`)
    socket.write(body)
  }
  socket.destroy(error)
}

/** The response that the connection is sending or sends next. `node:http` reads the same field. */
const responseOn = (socket: Socket & { readonly _httpMessage?: ServerResponse | null }) =>
  socket._httpMessage ?? null

function wordsOf(error: Error & { readonly code?: string; readonly reason?: string }): string {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return `the headers must not exceed ${maxHeaderSize} bytes`
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'the request did not end in time'
    default:
      return `expected a request of HTTP/1.1; ${error.reason ?? error.message}`
  }
}
