import { createHash } from 'node:crypto'
import type { Fields } from '../formats/row.ts'

/** Columns that are amounts, or change from one export of a charge to the next, such as the number of its invoice. */
export type AmountColumns = (name: string) => boolean

/**
 * Names charges by all of their columns but the amounts, with a running number among equal ones of a file. So equal
 * lines of a file are separate, and a charge that a later export states again replaces the earlier one.
 */
export class Identities {
  readonly #isAmount: AmountColumns
  readonly #seen = new Map<string, number>()

  constructor(isAmount: AmountColumns) {
    this.#isAmount = isAmount
  }

  of(line: Fields): string {
    const told = Object.entries(line)
      .filter(([name, value]) => !this.#isAmount(name) && value !== null && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 24)
    const n = (this.#seen.get(hash) ?? 0) + 1
    this.#seen.set(hash, n)
    return n === 1 ? hash : `${hash}#${n}`
  }
}
