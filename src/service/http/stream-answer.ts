import type { Piece, Sink, StreamMoment } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import { type Answering, successHeaders } from './answering.ts'

/**
 * Answers with server-sent events as the pieces come. The head waits for the first piece, so that
 * a failure before it is a plain error; the last events wait for the commit of the charge, since
 * they are what tells the client that it completed.
 */
export class StreamAnswer implements Sink {
  readonly #parts: Answering
  #begun = false
  #over = false

  constructor(parts: Answering) {
    this.#parts = parts
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
    const { call, response } = this.#parts
    call.piecesSent += pieces.length
    const hasRoom = response.write(this.#beginning() + this.#frames({ at: 'pieces', pieces }))
    if (hasRoom) return
    return new Promise((resolve) => {
      const go = () => {
        response.off('drain', go).off('close', go)
        resolve()
      }
      response.once('drain', go).once('close', go)
    })
  }

  done(answer: Answer): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, database, response } = this.#parts
    const usage = behaviour.usage(call, answer)
    behaviour.settle(call, usage)
    const last = this.#beginning() + this.#frames({ at: 'end', answer, usage })
    database.afterCommit(() => {
      response.end(last + behaviour.ending(call))
    })
  }

  fail(refusal: Refusal): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, response, replies } = this.#parts
    behaviour.release(call)
    if (!this.#begun) {
      replies.refuse(call, response, refusal)
      return
    }
    // The status is gone already: without its terminal event the stream is no success.
    this.#write(this.#frames({ at: 'failure', refusal }))
    response.destroy()
  }

  #beginning(): string {
    if (this.#begun) return ''
    this.#begun = true
    const { call, replies, response } = this.#parts
    const headers = successHeaders(this.#parts)
    headers['content-type'] = 'text/event-stream; charset=utf-8'
    headers['cache-control'] = 'no-cache'
    response.writeHead(200, replies.finished(call, 200, headers))
    return this.#frames({ at: 'start' })
  }

  #frames(moment: StreamMoment): string {
    const { behaviour, call } = this.#parts
    let frames = ''
    for (const event of behaviour.events(call, moment)) frames += behaviour.frame(call, event)
    return frames
  }

  #write(text: string): void {
    this.#parts.response.write(text)
  }
}
