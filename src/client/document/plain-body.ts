import type { Unheld } from '../../attempt/outcome.ts'
import { HeldBytes } from '../bytes/held-bytes.ts'
import type { ResponseMemory } from '../bytes/memory.ts'
import type { DocumentReader } from './document.ts'

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const CLOSE_LIST = 93
const CLOSE_OBJECT = 125

/** Larger bodies are broken; nothing that a contract promises is near this size. */
export const maxBodyBytes = 64 * 1024 * 1024

/** A JSON body, parsed in place if it arrives in one piece. `onDocument` is called once at most, while its fields are read. */
export class PlainBody {
  private readonly document: DocumentReader
  private readonly onDocument: (wellFormed: boolean) => void
  private readonly held: HeldBytes
  /** The whole document was read; only white space may follow. */
  private read = false
  /** Whether something else followed. */
  trailing = false

  constructor(
    document: DocumentReader,
    memory: ResponseMemory,
    onDocument: (wellFormed: boolean) => void,
  ) {
    this.document = document
    this.held = new HeldBytes(memory)
    this.onDocument = onDocument
  }

  reset(): void {
    this.held.drop()
    this.read = false
    this.trailing = false
  }

  /** Returns why no more may be added, or null; `contentLength` is NaN if unknown. */
  add(bytes: Buffer, start: number, end: number, contentLength: number): Unheld | null {
    if (this.read) {
      this.trailing ||= !isBlank(bytes, start, end)
      return null
    }
    const { held } = this
    if (held.length === 0 && mayBeWhole(bytes, start, end, contentLength)) {
      const wellFormed = this.document.read(bytes, afterMark(bytes, start, end), end)
      if (wellFormed || contentLength === end - start) {
        this.read = true
        this.onDocument(wellFormed)
        return null
      }
    }
    if (held.length + end - start > maxBodyBytes) return 'too-large'
    return held.add(bytes, start, end) ? null : 'no-memory'
  }

  /** The body is over. @returns false if there was no memory to read it */
  end(): boolean {
    if (this.read) return true
    this.read = true
    const { held } = this
    const bytes = held.bytes()
    if (bytes === null) return false
    this.onDocument(this.document.read(bytes, afterMark(bytes, 0, held.length), held.length))
    return true
  }
}

/** Where a document begins: official clients skip a byte order mark before it, and RFC 8259 (8.1) lets them. */
function afterMark(bytes: Buffer, start: number, end: number): number {
  const hasMark =
    bytes[start] === 0xef &&
    start + 2 < end &&
    bytes[start + 1] === 0xbb &&
    bytes[start + 2] === 0xbf
  return hasMark ? start + 3 : start
}

/** Whether to try a parse: the last byte shows cheaply whether the body may be whole. */
function mayBeWhole(bytes: Buffer, start: number, end: number, contentLength: number): boolean {
  if (!Number.isNaN(contentLength)) return contentLength === end - start
  const last = bytes[end - 1]!
  return last === CLOSE_OBJECT || last === CLOSE_LIST || last === LF
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB) return false
  }
  return true
}
