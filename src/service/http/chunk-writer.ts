import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Frames } from './framer.ts'

/**
 * Writes the body of a stream, each part as one chunk of HTTP/1.1 (RFC 9112 §7.1) and in one write
 * to the connection: `node:http` makes four parts of a chunk and gathers them, which costs a
 * thousand paced streams a quarter of a core.
 */
export class ChunkWriter {
  readonly #response: ServerResponse
  readonly #chunked: boolean
  /** The connection, from when on it is this response's alone. */
  #socket: Socket | null = null
  #begun = false

  /** @param response with its head written, and nothing else */
  constructor(response: ServerResponse) {
    this.#response = response
    // False for clients that speak HTTP/1.0: their body is everything until the connection ends.
    this.#chunked = response.chunkedEncoding
    response.chunkedEncoding = false
  }

  /** @returns false when the client reads more slowly than it is given */
  write({ text, bytes }: Frames): boolean {
    if (bytes === 0) return true
    // As many bytes as characters: ASCII, which goes out without being encoded.
    const encoding = bytes === text.length ? 'latin1' : 'utf8'
    const chunk = this.#chunked ? `${bytes.toString(16)}\r\n${text}\r\n` : text
    const socket = this.#socket ?? this.#takeSocket()
    if (socket === null) return this.#response.write(chunk, encoding)
    return !socket.writable || socket.write(chunk, encoding)
  }

  /**
   * Null as long as there is a part of it for node:http to do: the head goes out with the first
   * part, and a response that others of its connection are before has no connection yet.
   */
  #takeSocket(): Socket | null {
    const { socket, writableLength } = this.#response
    if (this.#begun && writableLength === 0) this.#socket = socket
    this.#begun = true
    return this.#socket
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
