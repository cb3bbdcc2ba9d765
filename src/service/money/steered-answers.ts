import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Answer } from '../generate.ts'
import type { Steering } from './steering.ts'

/** Answers that take the course of events that the user's message asked for. */
export class SteeredAnswers {
  readonly #steeringOf: (call: Call) => Steering | undefined

  constructor(steeringOf: (call: Call) => Steering | undefined) {
    this.#steeringOf = steeringOf
  }

  readonly #wholes = new WeakMap<Call, Answer>()

  /** The answer as it was made, whatever of it is sent. */
  whole(call: Call): Answer {
    return this.#wholes.get(call) ?? { choices: [], promptTokens: 0, completionTokens: 0 }
  }

  answer(call: Call, below: Behaviour): Answer {
    const answer = below.answer(call)
    this.#wholes.set(call, answer)
    const { isEmpty, isFiltered } = this.#steeringOf(call) ?? {}
    if (isEmpty !== true && isFiltered !== true) return answer
    const choices = answer.choices.map((choice) => ({ ...choice, pieces: [], reasoning: [] }))
    if (isEmpty === true) this.#wholes.set(call, { ...answer, choices, completionTokens: 0 })
    return { ...answer, choices, completionTokens: 0 }
  }

  generate(call: Call, sink: Parameters<Behaviour['generate']>[1], below: Behaviour): () => void {
    if (this.#steeringOf(call)?.breaksOff !== true) return below.generate(call, sink)
    const failure = { kind: 'unavailable', message: 'the upstream broke off' } as const
    if (call.request?.stream !== true) {
      return below.generate(call, {
        pieces: () => {},
        done: () => sink.fail(failure),
        fail: (refusal) => sink.fail(refusal),
      })
    }
    let isOver = false
    const breaks = () => {
      if (!isOver) sink.fail(failure)
      isOver = true
    }
    return below.generate(call, {
      pieces: (pieces) => {
        if (isOver) return undefined
        const room = sink.pieces(pieces)
        if (call.piecesSent * 2 >= this.whole(call).completionTokens) breaks()
        return room
      },
      done: breaks,
      fail: (refusal) => sink.fail(refusal),
    })
  }
}
