import type { Sink } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import { type Answering, successHeaders } from './answering.ts'
import { json } from './response-writer.ts'

/** Answers with one JSON body, when the answer is whole. */
export class PlainAnswer implements Sink {
  readonly #parts: Answering
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
      else behaviour.settle(call, behaviour.usage(call, behaviour.answer(call)))
    })
  }

  pieces(): void {}

  done(answer: Answer): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, replays, writer, response } = this.#parts
    const usage = behaviour.usage(call, answer)
    behaviour.settle(call, usage)
    const body = JSON.stringify(behaviour.completion(call, answer, usage))
    const headers = successHeaders(this.#parts)
    headers['content-type'] = json
    replays?.keep(call, { status: 200, headers: { ...headers }, body })
    writer.write(call, response, 200, headers, body)
  }

  fail(refusal: Refusal): void {
    if (this.#over) return
    this.#over = true
    const { behaviour, call, writer, response } = this.#parts
    behaviour.release(call)
    writer.refuse(call, response, refusal)
  }
}
