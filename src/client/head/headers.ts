import { headerTimeS } from '../../user/header-time.ts'
import { ByteNames, isName } from '../bytes/byte-names.ts'
import type { HeaderLines } from '../wire/transport.ts'

/** Finds header lines by name in bytes: strings of all headers would cost more than the rest of a request. */
export class HeaderReader {
  /** Index of the first line of each slot in `HeaderLines.offsets`; -1 for none. */
  readonly lines: Int32Array
  /** Number of lines of each slot that have the same name. */
  readonly counts: Int32Array
  private readonly names: ByteNames
  /** Slot of each name, and the place of the name among those of its slot. */
  private readonly slots: readonly { readonly slot: number; readonly rank: number }[]
  private readonly ranks: Int32Array

  /** @param slots the names of each slot in lower case; the first one that a head has is read */
  constructor(slots: readonly (readonly string[])[]) {
    this.lines = new Int32Array(slots.length)
    this.counts = new Int32Array(slots.length)
    this.ranks = new Int32Array(slots.length)
    const names = slots.flatMap((any, slot) => any.map((name, rank) => ({ name, slot, rank })))
    this.slots = names
    this.names = new ByteNames(
      Object.fromEntries(names.map(({ name }, at) => [name, at + 1])),
      true,
    )
  }

  read(head: Buffer, lines: HeaderLines): void {
    lines.locate()
    const { offsets } = lines
    this.lines.fill(-1)
    this.counts.fill(0)
    const end = lines.count * 3
    for (let line = 0; line < end; line += 3) {
      const at = this.names.find(head, offsets[line]!, offsets[line + 1]!) - 1
      if (at === -1) continue
      const { slot, rank } = this.slots[at]!
      if (this.counts[slot] === 0 || rank < this.ranks[slot]!) {
        this.lines[slot] = line
        this.ranks[slot] = rank
        this.counts[slot] = 1
      } else if (rank === this.ranks[slot]) this.counts[slot]!++
    }
  }
}

/** Start of the value of a line, without white space. */
export function valueStart(head: Buffer, { offsets }: HeaderLines, line: number): number {
  let start = offsets[line + 1]! + 1
  const end = offsets[line + 2]!
  while (start < end && isBlank(head[start]!)) start++
  return start
}

/** End of the value of a line, without white space. */
export function valueEnd(head: Buffer, { offsets }: HeaderLines, line: number): number {
  const colon = offsets[line + 1]!
  let end = offsets[line + 2]!
  while (end > colon + 1 && isBlank(head[end - 1]!)) end--
  return end
}

const isBlank = (byte: number): boolean => byte === 32 || byte === 9

/** A decimal number, optionally with `-`, and a fraction if `fraction` allows it; NaN for anything else, or above 2^53 - 1. */
export function decimalOf(head: Buffer, start: number, end: number, fraction: boolean): number {
  let at = start
  const negative = at < end && head[at] === 45
  if (negative) at++
  const digits = at
  let value = 0
  while (at < end && head[at]! >= 48 && head[at]! <= 57) value = value * 10 + (head[at++]! - 48)
  if (at === digits) return Number.NaN
  if (at < end) {
    if (!fraction || head[at] !== 46 || at + 1 === end) return Number.NaN
    for (let rest = at + 1; rest < end; rest++) {
      if (head[rest]! < 48 || head[rest]! > 57) return Number.NaN
    }
    value = Number(head.toString('latin1', digits, end))
  }
  if (value > Number.MAX_SAFE_INTEGER) return Number.NaN
  return negative ? -value : value
}

/** Whether a value, such as a media type, begins with the word, which is in lower case. */
export const startsWith = (head: Buffer, start: number, end: number, word: Buffer): boolean =>
  end - start >= word.length && isName(head, start, word)

/** The `Date` header in Unix seconds. It stays the same for a whole second, so most calls are one comparison. */
export class DateReader {
  /** The last date of the usual form, `Thu, 01 Jan 2026 00:00:00 GMT`. */
  private readonly last = Buffer.alloc(29)
  private lastS = Number.NaN

  /** @returns NaN for anything that is not a date */
  read(head: Buffer, start: number, end: number): number {
    if (end - start !== this.last.length) return headerTimeS(head.toString('latin1', start, end))
    // Seconds change most often, so the comparison starts at the end.
    let at = this.last.length - 1
    while (at >= 0 && head[start + at] === this.last[at]) at--
    if (at < 0) return this.lastS
    head.copy(this.last, 0, start, end)
    this.lastS = headerTimeS(head.toString('latin1', start, end))
    return this.lastS
  }
}

/** The lines of a head, `Name: value\r\n` each, for a transport that does not parse heads itself. */
export function linesOf(head: Buffer): HeaderLines {
  const offsets: number[] = []
  const endOf = (line: number) => head.indexOf('\r\n', line, 'latin1')
  let line = 0
  for (let end = endOf(0); end !== -1; end = endOf(line)) {
    offsets.push(line, head.indexOf(58, line), end)
    line = end + 2
  }
  return {
    count: offsets.length / 3,
    shape: 0,
    varying: [],
    offsets: Int32Array.from(offsets),
    locate: () => {},
  }
}
