import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'

/**
 * A connection with direct writes where the system allows them. A direct write that succeeds at once
 * needs none of the state that Node keeps for a pending one, which halves the garbage. Node writes
 * the rest and handles every failure.
 */
export class Connection {
  readonly #socket: Socket
  /** Its file descriptor; absent where sockets are no files (Windows) or the number is hidden. */
  readonly #file: number

  constructor(socket: Socket) {
    this.#socket = socket
    const { _handle } = socket as { readonly _handle?: { readonly fd?: number } | null }
    this.#file = _handle?.fd ?? -1
  }

  /**
   * @param bytes copied if they must wait
   * @returns false if the client reads too slowly
   */
  write(bytes: Buffer, from: number, to: number): boolean {
    const socket = this.#socket
    // A closed descriptor can belong to another connection, but `writable` is false before that.
    if (!socket.writable) return true
    const taken = socket.writableLength === 0 ? this.#takenAtOnce(bytes, from, to - from) : 0
    return taken === to - from || socket.write(Buffer.from(bytes.subarray(from + taken, to)))
  }

  #takenAtOnce(bytes: Buffer, from: number, length: number): number {
    if (this.#file < 0) return 0
    try {
      return writeSync(this.#file, bytes, from, length)
    } catch {
      // The buffer is full or the client is gone. Node's own write finds out which.
      return 0
    }
  }
}
