import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ServiceResponse } from '../behaviour.ts'
import type { IncomingRequests } from './incoming-requests.ts'
import type { ResponseWriter } from './response-writer.ts'

/**
 * Answers what is no request of HTTP as every other request that is not valid, and ends its
 * connection. `node:http` by itself has statuses for it that the specification has not, no body,
 * and no headers that let a browser's page see them.
 */
export function refuseUnreadable(
  error: Error,
  socket: Socket,
  incoming: IncomingRequests,
  writer: ResponseWriter,
): void {
  const answer = () => {
    // A request whose body is what cannot be read has an endpoint, which has a shape.
    const begun = responseOn(socket)?.req
    const call = incoming.callOf(begun ?? { url: '', method: '', headers: {}, socket })
    return writer.refusalOf(call, { kind: 'request', message: wordsOf(error) })
  }
  endWith(socket, answer, error)
}

/**
 * Ends a connection that has no response to write to.
 *
 * @param answer made where it can be written: more bytes would only spoil a response that has begun
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

/** The response that a connection is to have next or has begun; `node:http` asks this, too. */
function responseOn(socket: Socket & { readonly _httpMessage?: ServerResponse | null }) {
  return socket._httpMessage ?? null
}

function wordsOf(error: Error & { readonly code?: string; readonly reason?: string }): string {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return `the headers must not exceed ${maxHeaderSize} bytes`
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'the request did not come to its end in time'
    default:
      return `expected a request of HTTP/1.1; ${error.reason ?? error.message}`
  }
}
