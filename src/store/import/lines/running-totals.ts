import {
  compare,
  decimalText,
  type Rational,
  readNumber,
  subtract,
} from '../../../money/rational.ts'

export type Step = 'first' | 'grown' | 'repeated' | 'restarted'

/** What a line adds to the total before it. Values that are no numbers stay as they are. */
export interface Added {
  readonly step: Step
  readonly values: readonly (string | null)[]
}

/**
 * Turns running totals into what each line adds. An equal total is a repetition; one of which any part falls begins
 * anew.
 */
export class RunningTotals {
  readonly #last = new Map<string, readonly (Rational | null)[]>()
  repeated = 0
  restarts = 0

  add(session: string, totals: readonly (string | null)[]): Added {
    const now = totals.map((text) => (text === null ? null : readNumber(text)))
    const before = this.#last.get(session)
    this.#last.set(session, now)
    if (before === undefined) return { step: 'first', values: totals }
    const order = now.map((value, at) => {
      const old = before[at]
      return value === null || old === null || old === undefined ? 0 : compare(value, old)
    })
    if (order.includes(-1)) {
      this.restarts++
      return { step: 'restarted', values: totals }
    }
    const isEqual = now.every((value, at) => (value === null) === (before[at] === null))
    if (isEqual && !order.includes(1)) {
      this.repeated++
      return { step: 'repeated', values: totals }
    }
    const values = now.map((value, at) => {
      const old = before[at] ?? null
      if (value === null || old === null) return totals[at]!
      return decimalText(subtract(value, old))
    })
    return { step: 'grown', values }
  }
}
