import type { Behaviour, Piece, StreamMoment } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Profile } from '../profile.ts'

/** What stands before and after the text of a piece. */
interface Template {
  readonly head: string
  readonly tail: string
}

const sample = 'the text of a piece'

/**
 * Makes the events of one stream, as text. The chunks of a chat stream differ in their text alone:
 * then the rest is made once, by the very functions that make every other event.
 */
export class Framer {
  readonly #behaviour: Behaviour
  readonly #call: Call
  readonly #uniform: boolean
  readonly #templates: Template[] = []

  /** @param honest whether no fault and no upstream has a hand in the events */
  constructor(behaviour: Behaviour, call: Call, profile: Profile, honest: boolean) {
    this.#behaviour = behaviour
    this.#call = call
    this.#uniform = honest && call.endpoint === 'chat' && profile.reasoning !== 'inline'
  }

  frames(moment: StreamMoment): string {
    let frames = ''
    if (this.#uniform && moment.at === 'pieces') {
      for (const piece of moment.pieces) {
        const { head, tail } = this.#templateFor(piece)
        frames += head + JSON.stringify(piece.text) + tail
      }
      return frames
    }
    const events = this.#behaviour.events(this.#call, moment)
    for (const event of events) frames += this.#behaviour.frame(this.#call, event)
    return frames
  }

  #templateFor({ choice, reasoning }: Piece): Template {
    const place = choice * 2 + (reasoning ? 1 : 0)
    let template = this.#templates[place]
    if (template === undefined) {
      const piece = { choice, reasoning, text: sample }
      const [event] = this.#behaviour.events(this.#call, { at: 'pieces', pieces: [piece] })
      const [head, tail] = this.#behaviour
        .frame(this.#call, event!)
        .split(JSON.stringify(sample), 2) as [string, string]
      template = { head, tail }
      this.#templates[place] = template
    }
    return template
  }
}
