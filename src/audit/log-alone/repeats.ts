import { isZero } from '../../money/rational.ts'
import { counted } from '../../user/grouped.ts'
import { settled } from '../evidence/prices/refunds.ts'
import type { Witness } from '../verdict.ts'
import type { LoggedRequest } from './log-lines.ts'
import { witnessOf } from './log-witness.ts'

/** An answer in several passes has a row for each, with its own counts. More different rows are of several requests. */
const mostContents = 5
const keptWitnesses = 5

/** Charges with equal counts among the rows of one id. */
export class Repeats {
  readonly #kept: (readonly LoggedRequest[])[] = []
  /** Ids with such charges, and how many there are beside the first of each. */
  #ids = 0
  #more = 0
  #ofSeveral = 0

  /** @param rows all of one id */
  compare(rows: readonly LoggedRequest[]): void {
    const { charges } = settled(rows, ({ statement }) => statement)
    const charged = charges.filter(
      ({ statement }) => statement !== null && !isZero(statement.value),
    )
    const same = Map.groupBy(charged, ({ content }) => content)
    if (same.size > mostContents) {
      this.#ofSeveral++
      return
    }
    for (const equal of same.values()) {
      if (equal.length === 1) continue
      this.#ids++
      this.#more += equal.length - 1
      if (this.#kept.length < keptWitnesses) this.#kept.push(equal.slice(0, keptWitnesses))
    }
  }

  /** What was found, as a sentence; null if nothing was. */
  get found(): string | null {
    if (this.#ids === 0) return null
    const are = this.#ids === 1 ? 'is' : 'are'
    return `${counted(this.#ids, 'request')} ${are} charged more than once, by ${counted(this.#more, 'further row')} with the same id`
  }

  /** What equal rows do not show. */
  get note(): string | undefined {
    const of = this.#ofSeveral
    return of === 0
      ? undefined
      : `${counted(of, 'id')} ${of === 1 ? 'has' : 'have'} rows with more than ${mostContents} different counts, so equal ones may be several requests`
  }

  witnesses(): readonly Witness[] {
    return this.#kept.map((equal) => {
      const at = equal.map(({ line }) => line).join(' and ')
      return witnessOf(equal[0]!, null, '', `lines ${at} charge ${equal[0]!.statement!.text} each`)
    })
  }
}
