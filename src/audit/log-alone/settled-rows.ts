import { settled } from '../evidence/prices/refunds.ts'
import { sumOfCosts } from '../evidence/prices/stated-costs.ts'
import type { LoggedRequest } from './log-lines.ts'

/** Ids whose rows are held until the end of the log. */
const mostIds = 100_000
const mostRows = 20

/**
 * Rows that share an id: some gateways write a charge in advance, and a further row without counts that settles it. Such rows
 * are one charge, the sum of all.
 */
export class SettledRows {
  readonly #byId = new Map<string, LoggedRequest[]>()

  /** @returns false if there is no room for the row: then nobody can say what its request cost in all */
  hold(line: LoggedRequest & { readonly id: string }): boolean {
    const rows = this.#byId.get(line.id)
    if (rows === undefined) {
      if (this.#byId.size >= mostIds) return false
      this.#byId.set(line.id, [line])
      return true
    }
    if (rows.length >= mostRows) return false
    rows.push(line)
    return true
  }

  /** Rows that are judged each, and charges of several rows as one. */
  *charges(): Generator<LoggedRequest> {
    for (const all of this.#byId.values()) {
      // What was given back whole is no charge.
      const { charges, refunds } = settled(all, ({ statement }) => statement)
      const rows = [...charges, ...refunds]
      const [counted, ...others] = rows.filter(hasCounts)
      const isOne = counted !== undefined && others.length === 0 && rows.length > 1
      if (isOne)
        yield {
          ...counted,
          statement:
            sumOfCosts(rows.flatMap(({ statement }) => statement ?? [])) ?? counted.statement,
        }
      else yield* rows
    }
  }
}

const hasCounts = ({ request: { usage } }: LoggedRequest) =>
  usage !== null &&
  [usage.parts, usage.calls].some((of) => Object.values(of).some((n) => (n ?? 0) > 0))
