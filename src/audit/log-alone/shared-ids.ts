import { grouped } from '../../user/grouped.ts'
import type { LoggedRequest } from './log-lines.ts'
import { IdMap } from './row-ids.ts'

/** Rows of one id that are held until its last one. */
const mostRows = 1_000
/** Rows that are held at once, of all ids. */
const mostHeld = 100_000

/** Why rows of an id are not held: it has too many, or all ids have. */
export type Unheld = 'long' | 'full'

/** The same in words, of one or more ids. */
export const unheldText = (why: ReadonlySet<Unheld>): string =>
  [
    ...(why.has('long') ? [`rows of an id with more than ${grouped(mostRows)} rows`] : []),
    ...(why.has('full')
      ? ['rows of ids that are too many to be held at once (order the log by id)']
      : []),
  ].join(', and ')

/** What is known of an id whose rows are not held, as bits: there may be many such ids. */
const has = { countsOnce: 1, countsAgain: 2, givesBack: 4, tooMany: 8 }

/**
 * Rows by the id that they share. They are handed out together with the last of them, and only then: what an id cost is known
 * when all of its rows are. Of an id without room, no row is handed out.
 */
export class SharedIds {
  readonly #rowsOf: (id: string) => number
  readonly #most: { readonly rows: number; readonly held: number }
  readonly #held = new Map<string, LoggedRequest[]>()
  #rows = 0
  readonly #unheld = new IdMap<number>()
  readonly #why = new Set<Unheld>()

  /** @param rowsOf how many rows have an id, or more */
  constructor(rowsOf: (id: string) => number, most = { rows: mostRows, held: mostHeld }) {
    this.#rowsOf = rowsOf
    this.#most = most
  }

  /** @returns all rows of the id if this is the last of them, else null */
  add(id: string, line: LoggedRequest): readonly LoggedRequest[] | null {
    const all = this.#rowsOf(id)
    const rows = this.#held.get(id) ?? []
    const isLast = rows.length + 1 >= all
    if (rows.length === 0 && (all > this.#most.rows || this.#unheld.get(id) !== undefined)) {
      this.#note(id, [line], all > this.#most.rows ? 'long' : 'full')
      return null
    }
    if (isLast || this.#rows >= this.#most.held) {
      this.#held.delete(id)
      this.#rows -= rows.length
      if (isLast) return [...rows, line]
      this.#note(id, [...rows, line], 'full')
      return null
    }
    if (rows.length === 0) this.#held.set(id, rows)
    rows.push(line)
    this.#rows++
    return null
  }

  /** After the last row of the log: ids of fewer rows than were said. */
  rest(): Iterable<readonly LoggedRequest[]> {
    return this.#held.values()
  }

  /** How many ids had no room. */
  get unheld(): number {
    return this.#unheld.size
  }

  get unheldWhy(): ReadonlySet<Unheld> {
    return this.#why
  }

  /**
   * How a row of an id without room is judged: by `itself` if the id surely names several requests, since more than one row has
   * counts and none gives back what another charged; else not, as a part of a charge that is not known. Null for any other row.
   */
  unheldAs(id: string): 'itself' | Unheld | null {
    const of = this.#unheld.get(id)
    if (of === undefined) return null
    if ((of & has.countsAgain) > 0 && (of & has.givesBack) === 0) return 'itself'
    return (of & has.tooMany) > 0 ? 'long' : 'full'
  }

  #note(id: string, lines: readonly LoggedRequest[], why: Unheld): void {
    this.#why.add(why)
    let of = this.#unheld.get(id) ?? (why === 'long' ? has.tooMany : 0)
    for (const line of lines) {
      if (hasCounts(line)) of |= (of & has.countsOnce) === 0 ? has.countsOnce : has.countsAgain
      if ((line.statement?.value.numerator ?? 0n) < 0n) of |= has.givesBack
    }
    this.#unheld.set(id, of)
  }
}

export const hasCounts = ({ request: { usage } }: LoggedRequest) =>
  usage !== null &&
  [usage.parts, usage.calls].some((of) => Object.values(of).some((n) => (n ?? 0) > 0))
