import type { Behaviour, Piece, StreamMoment } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Profile } from '../profile.ts'

/** Events as they are sent, with room on both sides for the framing of a chunk. */
export interface Frames {
  readonly buffer: Buffer
  readonly from: number
  readonly to: number
}

/** Room before events: a length of up to eight digits and a line end. */
export const roomBefore = 10
/** Room after events: a line end. */
const roomAfter = 2

/** The parts of an event before and after the text of a piece. */
interface Template {
  readonly head: Buffer
  readonly tail: Buffer
}

const sample = 'the text of a piece'
/** Characters that JSON writes unchanged, in one byte. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) =>
  code >= 0x20 && code !== 0x22 && code !== 0x5c && code !== 0x7f ? 1 : 0,
)
/** Most bytes of JSON for one unit of a string: \\ud83d. */
const maxUnitBytes = 6

/** The buffer for the pieces of all streams: each is written before the next is made. */
const shared = Buffer.allocUnsafeSlow(16_384)

/**
 * Makes the events of one stream. The chunks of a chat stream differ only in their text. The rest is
 * made once, by the functions that make every other event, so a token leaves no garbage. At 50,000
 * tokens a second, garbage collection would make them late.
 */
export class Framer {
  readonly #behaviour: Behaviour
  readonly #call: Call
  readonly #uniform: boolean
  readonly #templates: Template[] = []

  /** @param honest whether no fault and no upstream changes the events */
  constructor(behaviour: Behaviour, call: Call, profile: Profile, honest: boolean) {
    this.#behaviour = behaviour
    this.#call = call
    const callsTools = (call.request?.tools.length ?? 0) > 0
    this.#uniform =
      honest && call.endpoint === 'chat' && profile.reasoning !== 'inline' && !callsTools
  }

  /** The result must be written before the next call. */
  frames(moment: StreamMoment): Frames {
    if (this.#uniform && moment.at === 'pieces') {
      const quick = this.#quick(moment.pieces)
      if (quick !== null) return quick
    }
    let text = ''
    const events = this.#behaviour.events(this.#call, moment)
    for (const event of events) text += this.#behaviour.frame(this.#call, event)
    if (moment.at === 'end') text += this.#behaviour.ending(this.#call)
    const to = roomBefore + Buffer.byteLength(text)
    const buffer = Buffer.allocUnsafe(to + roomAfter)
    buffer.write(text, roomBefore, 'utf8')
    return { buffer, from: roomBefore, to }
  }

  /** Null if the pieces do not fit in the buffer. */
  #quick(pieces: readonly Piece[]): Frames | null {
    let to = roomBefore
    for (const piece of pieces) {
      const { head, tail } = this.#templateFor(piece)
      const most = head.length + piece.text.length * maxUnitBytes + tail.length
      if (to + most + roomAfter > shared.length) return null
      shared.set(head, to)
      to = writeText(piece.text, to + head.length)
      shared.set(tail, to)
      to += tail.length
    }
    return { buffer: shared, from: roomBefore, to }
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
      template = { head: Buffer.from(head), tail: Buffer.from(tail) }
      this.#templates[place] = template
    }
    return template
  }
}

/** Writes a text as the inside of a JSON string. Returns the end position. */
function writeText(text: string, from: number): number {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isPlain[code] !== 1) {
      return from + shared.write(JSON.stringify(text).slice(1, -1), from, 'utf8')
    }
    shared[from + at] = code
  }
  return from + text.length
}
