import type { Load } from '../scenario/scenario.ts'

/** One trial of a sweep: a rate, and whether it met the objectives. */
export interface Trial {
  readonly ratePerS: number
  readonly held: boolean
}

/** Rates between which the capacity lies. */
export interface Bracket {
  /** The highest rate that held; null if none did. */
  readonly safePerS: number | null
  /** The lowest rate that failed; null if none did. */
  readonly failedPerS: number | null
}

export type SweepStep =
  | { readonly kind: 'try'; readonly ratePerS: number; readonly coolDown: boolean }
  | ({ readonly kind: 'done' } & Bracket)

type Sweep = Extract<Load, { kind: 'sweep' }>

/** Most trials; noise cannot prolong a sweep beyond them. */
const maxTrials = 60

/**
 * The next step of a sweep: double the rate until one fails, then halve the bracket until it is
 * narrow. If the first rate fails, halve until one holds. A rate must fail twice in a row, because a
 * hiccup of the machine must not halve the result.
 *
 *     rate ─ 10 ✓ 20 ✓ 40 ✓ 80 ✗✗ ── 60 ✓ ── 70 ✗✗ ── 65 ✗✓ …      safe 65, in 65 to 70
 */
export function nextTrial(sweep: Sweep, trials: readonly Trial[]): SweepStep {
  const bracket = bracketOf(trials)
  const { safePerS: low, failedPerS: high } = bracket
  const done: SweepStep = { kind: 'done', ...bracket }
  const attempt = (ratePerS: number): SweepStep => ({
    kind: 'try',
    ratePerS,
    coolDown: trials.at(-1)?.held === false,
  })
  if (trials.length === 0) return attempt(sweep.startPerS)
  if (trials.length >= maxTrials) return done
  const last = trials.at(-1)!
  if (!last.held && last.ratePerS !== trials.at(-2)?.ratePerS) return attempt(last.ratePerS)
  if (high === null) {
    return low! >= sweep.maxPerS ? done : attempt(Math.min(low! * 2, sweep.maxPerS))
  }
  if (low === null) return high <= sweep.startPerS / 256 ? done : attempt(high / 2)
  return (high - low) / high <= sweep.precision ? done : attempt((low + high) / 2)
}

/** The bracket after any number of trials. */
export function bracketOf(trials: readonly Trial[]): Bracket {
  const held = trials.filter((trial) => trial.held).map((trial) => trial.ratePerS)
  const failed = trials
    .filter((trial, at) => !trial.held && trials[at - 1]?.ratePerS === trial.ratePerS)
    .map((trial) => trial.ratePerS)
  const high = failed.length > 0 ? Math.min(...failed) : null
  // A rate that held above a failed one does not count.
  const safe = held.filter((rate) => high === null || rate < high)
  return { safePerS: safe.length > 0 ? Math.max(...safe) : null, failedPerS: high }
}
