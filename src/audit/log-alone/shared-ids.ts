import type { LoggedRequest } from './log-lines.ts'

/** Rows of one id that are held until its last one. */
export const mostRows = 1_000
/** Rows that are held at once, of all ids. */
const mostHeld = 100_000

/** An id whose rows are not held. */
interface Unheld {
  /** Rows with counts. */
  counted: number
  /** Whether a row gives something back. */
  givesBack: boolean
}

/**
 * Rows by the id that they share. They are handed out together with the last of them, and only then: what an id cost is known
 * when all of its rows are. Of an id without room, no row is handed out.
 */
export class SharedIds {
  readonly #rowsOf: (id: string) => number
  readonly #held = new Map<string, LoggedRequest[]>()
  #rows = 0
  readonly #unheld = new Map<string, Unheld>()

  /** @param rowsOf how many rows have an id, or more */
  constructor(rowsOf: (id: string) => number) {
    this.#rowsOf = rowsOf
  }

  /** @returns all rows of the id if this is the last of them, else null */
  add(id: string, line: LoggedRequest): readonly LoggedRequest[] | null {
    const all = this.#rowsOf(id)
    const rows = this.#held.get(id) ?? []
    if (rows.length === 0) {
      if (all > mostRows || this.#rows >= mostHeld || this.#unheld.has(id)) {
        this.#note(id, line)
        return null
      }
      this.#held.set(id, rows)
    }
    rows.push(line)
    this.#rows++
    if (rows.length < all) return null
    this.#held.delete(id)
    this.#rows -= rows.length
    return rows
  }

  /** After the last row of the log: ids of fewer rows than were said. */
  rest(): Iterable<readonly LoggedRequest[]> {
    return this.#held.values()
  }

  /** How many ids had no room. */
  get unheld(): number {
    return this.#unheld.size
  }

  /**
   * How a row of an id without room is judged: by itself if the id surely names several requests, since more than one row has
   * counts and none gives back what another charged; else as a part of a charge that is not known. Null for any other row.
   */
  unheldAs(id: string): 'itself' | 'part' | null {
    const of = this.#unheld.get(id)
    if (of === undefined) return null
    return of.counted > 1 && !of.givesBack ? 'itself' : 'part'
  }

  #note(id: string, line: LoggedRequest): void {
    const of = this.#unheld.get(id) ?? { counted: 0, givesBack: false }
    if (hasCounts(line)) of.counted++
    of.givesBack ||= (line.statement?.value.numerator ?? 0n) < 0n
    this.#unheld.set(id, of)
  }
}

export const hasCounts = ({ request: { usage } }: LoggedRequest) =>
  usage !== null &&
  [usage.parts, usage.calls].some((of) => Object.values(of).some((n) => (n ?? 0) > 0))
