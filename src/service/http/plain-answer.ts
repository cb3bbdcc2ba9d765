import type { Usage } from '../behaviour.ts'
import type { Answer } from '../generate.ts'
import type { Refusal } from '../refusal.ts'
import { AnswerUnderWay } from './answer-under-way.ts'
import { successHeaders } from './answering.ts'
import { json } from './response-writer.ts'

/** Answers with one JSON body once the answer is complete. */
export class PlainAnswer extends AnswerUnderWay {
  override pieces(): void {}

  /** The service made all of it for the client that left. */
  protected override given(): Answer {
    const { behaviour, call } = this.parts
    return behaviour.answer(call)
  }

  protected override end(answer: Answer, usage: Usage): void {
    const { behaviour, call, replays, writer, response } = this.parts
    const body = JSON.stringify(behaviour.completion(call, answer, usage))
    const headers = successHeaders(this.parts)
    headers['content-type'] = json
    replays?.keep(call, { status: 200, headers: { ...headers }, body })
    writer.write(call, response, 200, headers, body)
  }

  protected override refuse(refusal: Refusal): void {
    const { call, writer, response } = this.parts
    writer.refuse(call, response, refusal)
  }
}
