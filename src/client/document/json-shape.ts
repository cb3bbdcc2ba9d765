import { numberValue } from './json.ts'

/** Facts that depend only on the structure, so they are the same for all documents of a shape. */
export interface ShapeFacts {
  readonly choices: number
  readonly blocks: number
  readonly maxIndex: number
  readonly choiceBits: number
  readonly endedBits: number
  readonly hasThought: boolean
  readonly hasErrorMember: boolean
  readonly errorIsObject: boolean
  readonly isErrorKind: boolean
  readonly complains: boolean
  readonly semantic: number
  readonly passes: number
}

/** Cells of a value: start, end, and the use that the reader has for it. */
const valueCells = 3
/** Cells of a wanted value: start, end, use, and whether it varies. */
export const wantedCells = 4

/**
 * A document whose strings and numbers may differ:
 *
 *     {"id":"chatcmpl-1","model":"svc-k2","choices":[{"index":0,"delta":{"content":"Hi"}}]}
 *     ~~~~~~            ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~    ~~~~~   compared
 *
 * Bodies and events of one service have few shapes, so most documents need no walk over their grammar.
 * Fixed parts are compared, and so are values that have been the same in all documents so far, such as
 * a model.
 */
export class JsonShape {
  /** The document from which the shape was learnt. */
  readonly view: DataView
  readonly facts: ShapeFacts
  /** Values with a use or that vary, `wantedCells` each; the last cell is 1 if it is parsed, and 0 if it is compared. */
  wanted: Int32Array = new Int32Array(0)
  /** All values, `valueCells` each, with offsets from the start of the document. */
  private readonly values: Int32Array
  private readonly varies: Uint8Array
  private readonly bytes: Uint8Array

  /**
   * @param values with offsets in `bytes`
   * @param mayBeCompared whether a value may be compared by its bytes
   */
  constructor(
    bytes: Uint8Array,
    start: number,
    end: number,
    values: Int32Array,
    facts: ShapeFacts,
    mayBeCompared: (value: Uint8Array, use: number) => boolean,
  ) {
    this.bytes = Uint8Array.prototype.slice.call(bytes, start, end)
    this.view = new DataView(this.bytes.buffer)
    this.values = values.map((cell, at) => (at % valueCells === 2 ? cell : cell - start))
    this.varies = Uint8Array.from({ length: values.length / valueCells }, (_, at) =>
      mayBeCompared(this.valueAt(at), this.useOf(at)) ? 0 : 1,
    )
    this.facts = {
      choices: facts.choices,
      blocks: facts.blocks,
      maxIndex: facts.maxIndex,
      choiceBits: facts.choiceBits,
      endedBits: facts.endedBits,
      hasThought: facts.hasThought,
      hasErrorMember: facts.hasErrorMember,
      errorIsObject: facts.errorIsObject,
      isErrorKind: facts.isErrorKind,
      complains: facts.complains,
      semantic: facts.semantic,
      passes: facts.passes,
    }
    this.wanted = this.wantedValues()
  }

  private wantedValues(): Int32Array {
    return Int32Array.from(
      [...this.varies].flatMap((varies, at) =>
        varies === 1 || this.useOf(at) > numberValue
          ? [...this.values.subarray(at * valueCells, (at + 1) * valueCells), varies]
          : [],
      ),
    )
  }

  /** Marks the values that differ in another document as varying. @returns false if it has another shape */
  adapt(other: JsonShape): boolean {
    if (this.values.length !== other.values.length) return false
    const [own, others] = [this.betweenValues(), other.betweenValues()]
    if (!own.every((piece, at) => Buffer.compare(piece, others[at]!) === 0)) return false
    for (let at = 0; at < this.varies.length; at++) {
      if (this.useOf(at) !== other.useOf(at)) return false
    }
    for (let at = 0; at < this.varies.length; at++) {
      const differs = Buffer.compare(this.valueAt(at), other.valueAt(at)) !== 0
      if (differs || other.varies[at] === 1) this.varies[at] = 1
    }
    this.wanted = this.wantedValues()
    return true
  }

  private useOf(at: number): number {
    return this.values[at * valueCells + 2]!
  }

  private valueAt(at: number): Uint8Array {
    return this.bytes.subarray(this.values[at * valueCells], this.values[at * valueCells + 1])
  }

  private betweenValues(): readonly Uint8Array[] {
    const pieces: Uint8Array[] = []
    let from = 0
    for (let cell = 0; cell < this.values.length; cell += valueCells) {
      pieces.push(this.bytes.subarray(from, this.values[cell]))
      from = this.values[cell + 1]!
    }
    pieces.push(this.bytes.subarray(from))
    return pieces
  }
}
