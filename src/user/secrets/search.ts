import { byteLists } from './byte-lists.ts'
import type { KeyIndex, Region } from './key-index.ts'
import {
  type DigitRun,
  digitRun,
  nextRun,
  type Radix,
  radixes,
  TextScan,
  textTable,
} from './radix.ts'
import { unescaped } from './unescaped.ts'

/** Nested encodings that are followed. */
const maxDepth = 12
/** Characters searched for each character of a text, over all its decodings. */
const maxWork = 64

/** Bytes that may be text, plain or encoded. */
const texts = textTable((byte) => (byte >= 32 && byte < 127) || [0, 9, 10, 13].includes(byte))

/** What to search for, and how. */
export interface Wanted {
  readonly index: KeyIndex
  /** Kinds of escapes. */
  readonly layers: readonly RegExp[]
  /** Secrets with fewer letters are not searched for. */
  readonly shortest: number
}

/** Searches for secrets in a text and in all its decodings. */
export class Search {
  private readonly wanted: Wanted
  private work: number
  /** Decodings that were searched, because several paths may lead to the same one. */
  private readonly seen = new Set<string>()

  constructor(wanted: Wanted, length: number) {
    this.wanted = wanted
    this.work = maxWork * (length + 256)
  }

  /** @returns null if there is too much to decode */
  regionsOf(text: string): readonly Region[] | null {
    const found: Region[] = []
    return this.search(text, 0, true, (region) => found.push(region)) ? found : null
  }

  /** @returns false if there is too much to decode */
  private search(
    text: string,
    depth: number,
    isPlain: boolean,
    found: (region: Region) => void,
  ): boolean {
    this.work -= text.length
    if (this.work < 0) return false
    const { index, layers, shortest } = this.wanted
    for (const region of index.regionsOf(text, isPlain, shortest)) found(region)
    if (!index.mayBeEncoded) return true
    if (!this.searchDigits(text, depth, found)) return false
    for (const { text: listed, starts, ends } of byteLists(text, index.least)) {
      const isWhole = this.inner(listed, depth, false, ({ start, end }) =>
        found({ start: starts[start]!, end: ends[end - 1]! }),
      )
      if (!isWhole) return false
    }
    for (const layer of layers) {
      const view = unescaped(text, layer)
      if (view === null || this.seen.has(view.text)) continue
      if (layers.length > 1) this.seen.add(view.text)
      const isWhole = this.inner(view.text, depth, isPlain, ({ start, end }) =>
        found({ start: view.startOf(start), end: view.startOf(end) }),
      )
      if (!isWhole) return false
    }
    return true
  }

  private inner(
    text: string,
    depth: number,
    isPlain: boolean,
    found: (region: Region) => void,
  ): boolean {
    return depth < maxDepth && this.search(text, depth + 1, isPlain, found)
  }

  private searchDigits(text: string, depth: number, found: (region: Region) => void): boolean {
    const { least } = this.wanted.index
    if (text.length * 6 < least * 8) return true
    // Characters beyond Latin-1 become some byte, which is not a find by chance.
    const bytes = Buffer.from(text, 'latin1')
    const run = digitRun(0)
    for (const radix of radixes) {
      for (let from = 0; from >= 0; ) {
        from = nextRun(bytes, from, bytes.length, radix, least, run)
        if (from >= 0 && !this.searchRun(run, radix, depth, found)) return false
      }
    }
    return true
  }

  /** Searches a run of digits where its bytes may be text. */
  private searchRun(
    run: DigitRun,
    radix: Radix,
    depth: number,
    found: (region: Region) => void,
  ): boolean {
    const scan = new TextScan(texts)
    scan.start(run, radix, this.wanted.index.least)
    while (scan.next()) {
      const text = Buffer.from(scan.found).toString('latin1')
      const isWhole = this.inner(text, depth, false, ({ start, end }) =>
        found(scan.placesOf(start, end)),
      )
      if (!isWhole) return false
    }
    return true
  }
}
