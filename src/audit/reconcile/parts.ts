import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { rational } from '../../money/rational.ts'
import { linesOf } from '../../store/import/formats/documents.ts'
import { textHash } from '../../user/text-hash.ts'
import type { BillLine, LogLine, Part } from './lines.ts'

type Side = keyof Part

/** Amounts are exact: the two whole numbers of a fraction, as text. */
const isAmount = (value: unknown): value is { numerator: string; denominator: string } =>
  typeof value === 'object' && value !== null && 'denominator' in value

const written = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
const read = (_: string, value: unknown) =>
  isAmount(value) ? rational(BigInt(value.numerator), BigInt(value.denominator)) : value

/** Characters that wait for one write. */
const bufferedLength = 1 << 16

/**
 * The lines of a bill and of a log, in parts by a hash of their id. One part is kept in memory; more lie in files of a folder,
 * and one of them at a time is read.
 */
export class Parts implements Iterable<Part> {
  readonly #folder: string
  readonly #count: number
  readonly #kept: { readonly bill: BillLine[]; readonly log: LogLine[] } = { bill: [], log: [] }
  readonly #waiting = new Map<string, string>()

  /** @param count how many parts; 1 uses no file */
  constructor(folder: string, count: number) {
    this.#folder = folder
    this.#count = count
  }

  add<S extends Side>(side: S, line: Part[S][number]): void {
    if (this.#count === 1) {
      const kept: (BillLine | LogLine)[] = this.#kept[side]
      kept.push(line)
      return
    }
    const path = this.#pathOf(side, line.id === null ? 0 : textHash(line.id) % this.#count)
    const text = `${this.#waiting.get(path) ?? ''}${JSON.stringify(line, written)}\n`
    if (text.length < bufferedLength) this.#waiting.set(path, text)
    else this.#write(path, text)
  }

  *[Symbol.iterator](): Generator<Part> {
    if (this.#count === 1) return yield this.#kept
    for (const [path, text] of this.#waiting) this.#write(path, text)
    for (let part = 0; part < this.#count; part++) {
      yield { bill: this.#read('bill', part), log: this.#read('log', part) }
    }
  }

  #pathOf(side: Side, part: number): string {
    return join(this.#folder, `${side}-${part}.part`)
  }

  #write(path: string, text: string): void {
    const file = openSync(path, 'a')
    try {
      writeSync(file, text)
    } finally {
      closeSync(file)
    }
    this.#waiting.set(path, '')
  }

  #read<S extends Side>(side: S, part: number): Part[S][number][] {
    // A part without a line has no file.
    const path = this.#pathOf(side, part)
    if (!this.#waiting.has(path)) return []
    return Array.from(linesOf(path), (text): Part[S][number] => JSON.parse(text, read))
  }
}
