import type { Behaviour, Piece, StreamMoment } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Profile } from '../profile.ts'

/** Events as they are sent. */
export interface Frames {
  readonly text: string
  /** Of the text in UTF-8. */
  readonly bytes: number
}

/** What stands before and after the text of a piece. */
interface Template {
  readonly head: string
  readonly tail: string
  /** Of both. */
  readonly bytes: number
}

const sample = 'the text of a piece'
/** ASCII that JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

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

  frames(moment: StreamMoment): Frames {
    if (this.#uniform && moment.at === 'pieces') return this.#quick(moment.pieces)
    let text = ''
    const events = this.#behaviour.events(this.#call, moment)
    for (const event of events) text += this.#behaviour.frame(this.#call, event)
    if (moment.at === 'end') text += this.#behaviour.ending(this.#call)
    return { text, bytes: Buffer.byteLength(text) }
  }

  #quick(pieces: readonly Piece[]): Frames {
    let text = ''
    let bytes = 0
    for (const piece of pieces) {
      const template = this.#templateFor(piece)
      const isPlain = plain.test(piece.text)
      const words = isPlain ? piece.text : JSON.stringify(piece.text).slice(1, -1)
      text += template.head + words + template.tail
      bytes += template.bytes + (isPlain ? words.length : Buffer.byteLength(words))
    }
    return { text, bytes }
  }

  #templateFor({ choice, reasoning }: Piece): Template {
    const place = choice * 2 + (reasoning ? 1 : 0)
    let template = this.#templates[place]
    if (template === undefined) {
      const piece = { choice, reasoning, text: sample }
      const [event] = this.#behaviour.events(this.#call, { at: 'pieces', pieces: [piece] })
      const [head, tail] = this.#behaviour.frame(this.#call, event!).split(sample, 2) as [
        string,
        string,
      ]
      template = { head, tail, bytes: Buffer.byteLength(head) + Buffer.byteLength(tail) }
      this.#templates[place] = template
    }
    return template
  }
}
