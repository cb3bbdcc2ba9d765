import type { Piece, Usage } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import { AnswerUnderWay } from './answer-under-way.ts'
import { type Answering, successHeaders } from './answering.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { Framer } from './framer.ts'

/**
 * Answers with server-sent events as the pieces come. The head waits for the first piece, so that a
 * failure before it is a plain error. The last events wait for the commit of the charge, because
 * they tell the client that the request is complete.
 */
export class StreamAnswer extends AnswerUnderWay {
  readonly #framer: Framer
  /** Null until the head is written. */
  #writer: ChunkWriter | null = null
  /** Pending while the client reads too slowly. */
  #room: Promise<void> | null = null

  constructor(parts: Answering) {
    super(parts)
    this.#framer = new Framer(parts.behaviour, parts.call, parts.profile, parts.honestEvents)
  }

  override pieces(pieces: readonly Piece[]): void | Promise<void> {
    if (this.isOver) return
    this.parts.call.piecesSent += pieces.length
    const writer = this.#begin()
    if (writer.write(this.#framer.frames({ at: 'pieces', pieces }))) return
    // All callers share one promise: callers that do not wait can ask many times.
    this.#room ??= new Promise((resolve) => {
      writer.onRoom(() => {
        this.#room = null
        resolve()
      })
    })
    return this.#room
  }

  protected override given(): Answer {
    const { promptTokens, piecesSent } = this.parts.call
    return { choices: [], promptTokens, completionTokens: piecesSent }
  }

  protected override end(answer: Answer, usage: Usage): void {
    const writer = this.#begin()
    const last = this.#framer.frames({ at: 'end', answer, usage })
    this.parts.database.afterCommit(() => writer.end(last))
  }

  protected override refuse(refusal: Refusal): void {
    const { call, response, writer } = this.parts
    if (this.#writer === null) {
      writer.refuse(call, response, refusal)
      return
    }
    // The status is already sent. Without its terminal event, the stream counts as failed.
    this.#writer.write(this.#framer.frames({ at: 'failure', refusal }))
    response.destroy()
  }

  /** The writer of the body. Writes the head and the first events if that is not done. */
  #begin(): ChunkWriter {
    if (this.#writer !== null) return this.#writer
    const { call, writer, response } = this.parts
    const headers = successHeaders(this.parts)
    headers['content-type'] = 'text/event-stream; charset=utf-8'
    headers['cache-control'] = 'no-cache'
    response.writeHead(200, writer.finished(call, 200, headers))
    this.#writer = new ChunkWriter(response)
    this.#writer.write(this.#framer.frames({ at: 'start' }))
    return this.#writer
  }
}
