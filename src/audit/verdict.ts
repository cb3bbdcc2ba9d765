import type { PromiseName } from '../contract/promises.ts'

/**
 * The verdict of a rule. A rule without observations never passes, nor does one whose evidence fits both sides; such
 * mixes do not compile.
 */
export type Verdict =
  | {
      readonly verdict: 'pass'
      readonly observations: number
      readonly note?: string
      readonly tables?: readonly VerdictTable[]
    }
  | {
      readonly verdict: 'fail'
      readonly observations: number
      readonly expected: string
      readonly observed: string
      /** The smallest set of rows that shows the failure. */
      readonly witnesses: readonly [Witness, ...Witness[]]
      readonly note?: string
      readonly tables?: readonly VerdictTable[]
    }
  | {
      readonly verdict: 'inconclusive'
      readonly observations: number
      /** Why the evidence fits both. */
      readonly why: string
      readonly witnesses?: readonly Witness[]
    }
  /** The precondition never occurred; `requires` describes the traffic that would meet it. */
  | { readonly verdict: 'not-observed'; readonly requires: string }
  /** The contract does not make these promises, so nothing can break them. */
  | {
      readonly verdict: 'not-promised'
      readonly promises: readonly [PromiseName, ...PromiseName[]]
    }

/** Figures that a page shows with a verdict, as text. */
export interface VerdictTable {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Rows that decided a verdict. */
export function observationsOf(verdict: Verdict): number {
  return 'observations' in verdict ? verdict.observations : 0
}

/** A pass if something was observed. @param requires the traffic that would be observed */
export function passed(observations: number, requires: string): Verdict {
  return observations > 0
    ? { verdict: 'pass', observations }
    : { verdict: 'not-observed', requires }
}

/** An attempt as evidence. */
export interface Witness {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** What this row shows, in a few words: `remaining 41 after 43, cost 1`. */
  readonly shows: string
}

/** `must`: the specification requires it. `derived`: it follows. `advice`: convention. */
export type Severity = 'must' | 'derived' | 'advice'

/**
 * What deciding a rule takes: any captured traffic, requests made for it, control of time or balance, or an account
 * without other traffic.
 */
export type Need = 'passive' | 'active' | 'time' | 'quiescence'

/** A verdict with its rule. */
export interface Finding {
  readonly rule: string
  readonly severity: Severity
  readonly title: string
  readonly verdict: Verdict
}

/**
 * Whether a promise was broken. Advice is not a promise.
 *
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { findings } = await audit(store)
 * process.exitCode = findings.some(isBroken) ? 3 : 0
 * store.close()
 */
export function isBroken({ verdict, severity }: Finding): boolean {
  return verdict.verdict === 'fail' && severity !== 'advice'
}
