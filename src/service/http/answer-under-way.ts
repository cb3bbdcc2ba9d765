import type { Piece, Sink, Usage } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import type { Answering } from './answering.ts'

/** An answer in progress. It ends once: when it is complete, when it fails, or when the client leaves. */
export abstract class AnswerUnderWay implements Sink {
  protected readonly parts: Answering
  protected isOver = false

  constructor(parts: Answering) {
    this.parts = parts
  }

  start(): void {
    const { behaviour, call, response } = this.parts
    const stop = behaviour.generate(call, this)
    if (this.isOver) return
    response.once('close', () => {
      if (this.isOver) return
      this.isOver = true
      stop()
      if (behaviour.onLeave(call) === 'release') behaviour.release(call)
      else behaviour.settle(call, behaviour.usage(call, this.given()))
    })
  }

  abstract pieces(pieces: readonly Piece[]): void | Promise<void>

  done(answer: Answer): void {
    if (this.isOver) return
    this.isOver = true
    const { behaviour, call } = this.parts
    const usage = behaviour.usage(call, answer)
    behaviour.settle(call, usage)
    this.end(answer, usage)
  }

  fail(refusal: Refusal): void {
    if (this.isOver) return
    this.isOver = true
    const { behaviour, call } = this.parts
    behaviour.release(call)
    this.refuse(refusal)
  }

  /** The part of the answer that a client that leaves now has used. */
  protected abstract given(): Answer
  protected abstract end(answer: Answer, usage: Usage): void
  protected abstract refuse(refusal: Refusal): void
}
