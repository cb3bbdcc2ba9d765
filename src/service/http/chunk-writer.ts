import type { ServerResponse } from 'node:http'
import { Connection } from './connection.ts'
import { type Frames, roomBefore } from './framer.ts'

const digits = Buffer.from('0123456789abcdef')

/**
 * Writes the body of a stream, each part as one chunk of HTTP/1.1 (RFC 9112 §7.1) and in one write
 * to the connection: `node:http` makes four parts of a chunk and gathers them, which costs a
 * thousand paced streams a quarter of a core.
 */
export class ChunkWriter {
  readonly #response: ServerResponse
  readonly #chunked: boolean
  /** The connection, from when on it is this response's alone. */
  #connection: Connection | null = null
  #begun = false

  /** @param response with its head written, and nothing else */
  constructor(response: ServerResponse) {
    this.#response = response
    // False for clients that speak HTTP/1.0: their body is everything until the connection ends.
    this.#chunked = response.chunkedEncoding
    response.chunkedEncoding = false
  }

  /** @returns false when the client reads more slowly than it is given */
  write(frames: Frames): boolean {
    if (frames.to === frames.from) return true
    const { buffer, from, to } = this.#chunked ? chunkOf(frames) : frames
    const connection = this.#connection ?? this.#takeConnection()
    if (connection !== null) return connection.write(buffer, from, to)
    return this.#response.write(Buffer.from(buffer.subarray(from, to)))
  }

  /**
   * Null as long as there is a part of it for node:http to do: the head goes out with the first
   * part, and a response that others of its connection are before has no connection yet.
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

  /** Calls back once, when there is room again or nobody is left to read. */
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

/** Puts the length before the events and the line end after them, in the room they have. */
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
