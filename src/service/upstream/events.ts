/** More than any event of a text stream. An upstream that sends more is broken. */
const maxLineLength = 16 << 20

export class BrokenStream extends Error {}

/**
 * Extracts the data of server-sent events from pieces of a body.
 *
 * @throws BrokenStream for a line that is too long
 */
export class EventData {
  readonly #decoder = new TextDecoder('utf-8')
  #rest = ''
  #data: string[] = []

  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): readonly string[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    const complete: string[] = []
    let from = 0
    for (;;) {
      const end = this.#rest.indexOf('\n', from)
      if (end < 0) break
      this.#line(this.#rest.slice(from, end).replace(/\r$/, ''), complete)
      from = end + 1
    }
    this.#rest = this.#rest.slice(from)
    if (this.#rest.length > maxLineLength) throw new BrokenStream('an event that is too long')
    return complete
  }

  #line(line: string, complete: string[]): void {
    if (line === '') {
      if (this.#data.length > 0) complete.push(this.#data.join('\n'))
      this.#data = []
    } else if (line.startsWith('data:')) {
      this.#data.push(line.slice(line[5] === ' ' ? 6 : 5))
    }
  }
}
