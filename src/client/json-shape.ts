/** What a document says by its structure alone, the same for all of its shape. */
export interface ShapeFacts {
  readonly choices: number
  readonly blocks: number
  readonly maxIndex: number
  readonly hasError: boolean
  readonly errorIsObject: boolean
}

/**
 * A document whose strings and numbers may differ:
 *
 *     {"id":"chatcmpl-1","model":"svc-k2","choices":[{"index":0,"delta":{"content":"Hi"}}]}
 *     ~~~~~~            ~~~~~~~~~        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~    ~~~~~   fixed
 *
 * The bodies and the events of one service have a handful of shapes, so most documents need no walk
 * over their grammar: what is fixed is compared, four bytes at a time.
 */
export class JsonShape {
  /** The document that the shape was learnt from. */
  readonly fixed: Uint8Array
  /** Its values, three numbers each: start, end (both in `fixed`), and what it is for. */
  readonly values: Int32Array
  readonly facts: ShapeFacts

  constructor(fixed: Uint8Array, values: Int32Array, facts: ShapeFacts) {
    this.fixed = fixed
    this.values = values
    this.facts = facts
  }

  /** Whether `bytes[at..]` begins with `fixed[from..to)`. */
  isSame(from: number, to: number, bytes: Uint8Array, at: number, end: number): boolean {
    const { fixed } = this
    const shift = at - from
    if (to + shift > end) return false
    let place = from
    for (; place < to - 3; place += 4) {
      const other = place + shift
      if (
        ((fixed[place]! ^ bytes[other]!) |
          (fixed[place + 1]! ^ bytes[other + 1]!) |
          (fixed[place + 2]! ^ bytes[other + 2]!) |
          (fixed[place + 3]! ^ bytes[other + 3]!)) !==
        0
      ) {
        return false
      }
    }
    for (; place < to; place++) if (fixed[place] !== bytes[place + shift]) return false
    return true
  }
}

const maxShapes = 4
const maxDocumentBytes = 4096
/** Shapes that may be learnt before any is met again; a hit earns a quarter of one. */
const budget = 64

/** The shapes met last. A service whose documents never repeat a shape stops being learnt from. */
export class JsonShapes {
  /** Most recently met first. */
  readonly list: JsonShape[] = []
  private credit = budget

  /** A document was of the shape at this place. */
  met(at: number): void {
    if (at > 0) {
      const shape = this.list[at]!
      this.list[at] = this.list[0]!
      this.list[0] = shape
    }
    if (this.credit < budget) this.credit += 0.25
  }

  /** @param values as they lie in `bytes` */
  learn(bytes: Buffer, start: number, end: number, values: Int32Array, facts: ShapeFacts): void {
    if (this.credit < 1 || end - start > maxDocumentBytes) return
    this.credit--
    const own = Int32Array.from(values, (cell, at) => (at % 3 === 2 ? cell : cell - start))
    const { choices, blocks, maxIndex, hasError, errorIsObject } = facts
    const fixed = Uint8Array.prototype.slice.call(bytes, start, end)
    if (this.list.length === maxShapes) this.list.pop()
    this.list.unshift(
      new JsonShape(fixed, own, { choices, blocks, maxIndex, hasError, errorIsObject }),
    )
  }
}
