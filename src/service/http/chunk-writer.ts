import type { ServerResponse } from 'node:http'
import { Connection } from './connection.ts'
import { type Frames, roomBefore } from './framer.ts'

const digits = Buffer.from('0123456789abcdef')

/**
 * Writes the body of a stream. Each part is one chunk of HTTP/1.1 (RFC 9112 §7.1) and one write to
 * the connection. `node:http` gathers a chunk from four parts, which costs a thousand paced streams
 * a quarter of a core.
 */
export class ChunkWriter {
  readonly #response: ServerResponse
  readonly #chunked: boolean
  /** The connection, once it carries this response only. */
  #connection: Connection | null = null
  #begun = false

  /** @param response with its head written and nothing else */
  constructor(response: ServerResponse) {
    this.#response = response
    // False for clients of HTTP/1.0: their body lasts until the connection ends.
    this.#chunked = response.chunkedEncoding
    response.chunkedEncoding = false
  }

  /** @returns false if the client reads too slowly */
  write(frames: Frames): boolean {
    if (frames.to === frames.from) return true
    const { buffer, from, to } = this.#chunked ? chunkOf(frames) : frames
    const connection = this.#connection ?? this.#takeConnection()
    if (connection !== null) return connection.write(buffer, from, to)
    return this.#response.write(Buffer.from(buffer.subarray(from, to)))
  }

  /**
   * Null while node:http has work left on the response: it sends the head with the first part, and
   * a response that waits for earlier ones of its connection has no socket yet.
   */
  #takeConnection(): Connection | null {
    const { socket, writableLength } = this.#response
    if (this.#begun && writableLength === 0 && socket !== null) {
      this.#connection = new Connection(socket)
    }
    this.#begun = true
    return this.#connection
  }

  end(last: Frames): void {
    this.write(last)
    if (this.#chunked) this.#response.end('0\r\n\r\n', 'latin1')
    else this.#response.end()
  }

  /** Calls back once, when there is room again or the connection has closed. */
  onRoom(callback: () => void): void {
    const response = this.#response
    const { socket } = response
    const go = () => {
      response.off('drain', go).off('close', go)
      socket?.off('drain', go)
      callback()
    }
    response.once('drain', go).once('close', go)
    socket?.once('drain', go)
  }
}

/** Writes the length before the events and the line end after them, in the reserved room. */
function chunkOf({ buffer, from, to }: Frames): Frames {
  let at = from - 2
  let length = to - from
  buffer[at] = 13
  buffer[at + 1] = 10
  for (; length > 0 && at > from - roomBefore; length >>>= 4) buffer[--at] = digits[length & 15]!
  buffer[to] = 13
  buffer[to + 1] = 10
  return { buffer, from: at, to: to + 2 }
}
