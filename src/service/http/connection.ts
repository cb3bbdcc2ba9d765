import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'

/**
 * A connection that is written to directly where the system allows it: a write that it takes at
 * once needs none of what Node keeps for one that waits, and leaves half the garbage. Whatever it
 * does not take at once, and every failure, goes Node's way.
 */
export class Connection {
  readonly #socket: Socket
  /** The file behind it; none where connections are no files (Windows), or hidden ones. */
  readonly #file: number

  constructor(socket: Socket) {
    this.#socket = socket
    const { _handle } = socket as { readonly _handle?: { readonly fd?: number } | null }
    this.#file = _handle?.fd ?? -1
  }

  /**
   * @param bytes copied when they have to wait
   * @returns false when the client reads more slowly than it is given
   */
  write(bytes: Buffer, from: number, to: number): boolean {
    const socket = this.#socket
    // Once it is closed its file may be another connection's; `writable` is false before that.
    if (!socket.writable) return true
    const taken = socket.writableLength === 0 ? this.#takenAtOnce(bytes, from, to - from) : 0
    return taken === to - from || socket.write(Buffer.from(bytes.subarray(from + taken, to)))
  }

  #takenAtOnce(bytes: Buffer, from: number, length: number): number {
    if (this.#file < 0) return 0
    try {
      return writeSync(this.#file, bytes, from, length)
    } catch {
      // Its buffer is full, or nobody is there any more: Node's own write finds out which.
      return 0
    }
  }
}
