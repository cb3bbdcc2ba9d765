/**
 * What a rule may say. A rule that nothing decided is never a pass, and evidence that fits both
 * sides is never one either; the union keeps such mixes from compiling.
 */
export type Verdict =
  | { readonly verdict: 'pass'; readonly observations: number; readonly note?: string }
  | {
      readonly verdict: 'fail'
      readonly observations: number
      readonly expected: string
      readonly came: string
      /** The smallest set of rows that shows it. */
      readonly witnesses: readonly [Witness, ...Witness[]]
      readonly note?: string
    }
  | {
      readonly verdict: 'inconclusive'
      readonly observations: number
      /** Why the evidence fits both. */
      readonly why: string
      readonly witnesses?: readonly Witness[]
    }
  /** Its precondition never came up; `takes` says what it would take. */
  | { readonly verdict: 'not-observed'; readonly takes: string }

/** A pass, where something was observed. @param takes what it would take to observe something */
export function passed(observations: number, takes: string): Verdict {
  return observations > 0 ? { verdict: 'pass', observations } : { verdict: 'not-observed', takes }
}

/** An attempt that shows something, and what it shows. */
export interface Witness {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** What to see on this row, in a few words: `remaining 41 after 43, cost 1`. */
  readonly shows: string
}

/** `must`: the specification requires it. `derived`: it follows. `advice`: convention. */
export type Severity = 'must' | 'derived' | 'advice'

/**
 * What deciding a rule takes: captured traffic alone, requests made for it, control of time or
 * balance, an account without other traffic.
 */
export type Need = 'passive' | 'active' | 'time' | 'quiescence'

/** A verdict together with the rule that gave it. */
export interface Finding {
  readonly rule: string
  readonly severity: Severity
  readonly title: string
  readonly verdict: Verdict
}
