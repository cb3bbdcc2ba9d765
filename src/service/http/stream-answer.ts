import type { Piece, Sink } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import { type Answering, successHeaders } from './answering.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { Framer } from './framer.ts'

/**
 * Answers with server-sent events as the pieces come. The head waits for the first piece, so that
 * a failure before it is a plain error; the last events wait for the commit of the charge, since
 * they are what tells the client that it completed.
 */
export class StreamAnswer implements Sink {
  readonly #parts: Answering
  readonly #framer: Framer
  /** Null until the head is written. */
  #writer: ChunkWriter | null = null
  #over = false
  /** While the client reads more slowly than it is given. */
  #room: Promise<void> | null = null

  constructor(parts: Answering) {
    this.#parts = parts
    this.#framer = new Framer(parts.behaviour, parts.call, parts.profile, parts.honestEvents)
  }

  start(): void {
    const { behaviour, call, response } = this.#parts
    const stop = behaviour.generate(call, this)
    if (this.#over) return
    response.once('close', () => {
      if (this.#over) return
      this.#over = true
      stop()
      if (behaviour.onLeave(call) === 'release') behaviour.release(call)
      else {
        const { promptTokens } = call
        const completionTokens = call.piecesSent
        const answer = { choices: [], promptTokens, completionTokens }
        behaviour.settle(call, behaviour.usage(call, answer))
      }
    })
  }

  pieces(pieces: readonly Piece[]): void | Promise<void> {
    if (this.#over) return
    this.#parts.call.piecesSent += pieces.length
    const writer = this.#begun()
    if (writer.write(this.#framer.frames({ at: 'pieces', pieces }))) return
    // One for all who wait: pieces that were made without waiting may be many by then.
    this.#room ??= new Promise((resolve) => {
      writer.onRoom(() => {
        this.#room = null
        resolve()
      })
    })
    return this.#room
  }

  done(answer: Answer): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, database } = this.#parts
    const usage = behaviour.usage(call, answer)
    behaviour.settle(call, usage)
    const writer = this.#begun()
    const last = this.#framer.frames({ at: 'end', answer, usage })
    database.afterCommit(() => writer.end(last))
  }

  fail(refusal: Refusal): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, response, writer } = this.#parts
    behaviour.release(call)
    if (this.#writer === null) {
      writer.refuse(call, response, refusal)
      return
    }
    // The status is gone already: without its terminal event the stream is no success.
    this.#writer.write(this.#framer.frames({ at: 'failure', refusal }))
    response.destroy()
  }

  /** The writer of the body; writes the head and the first events when that is still to be done. */
  #begun(): ChunkWriter {
    if (this.#writer !== null) return this.#writer
    const { call, writer, response } = this.#parts
    const headers = successHeaders(this.#parts)
    headers['content-type'] = 'text/event-stream; charset=utf-8'
    headers['cache-control'] = 'no-cache'
    response.writeHead(200, writer.finished(call, 200, headers))
    this.#writer = new ChunkWriter(response)
    this.#writer.write(this.#framer.frames({ at: 'start' }))
    return this.#writer
  }
}
