import type { DeploymentProfile } from '../contract/profile.ts'
import {
  missingPromises,
  type PromiseName,
  type Promising,
  promises,
} from '../contract/promises.ts'
import type { ColumnFile } from '../store/read/column-file.ts'
import type { Session } from '../store/session/session.ts'
import type { LogRow } from './evidence/prices/log.ts'
import {
  type Finding,
  type Measured,
  type Need,
  notPromised,
  type Severity,
  type Verdict,
} from './verdict.ts'

/** A rule of the rulebook, identified by its stable id. */
export interface Rule {
  readonly id: string
  /** The promise as one sentence. */
  readonly title: string
  /** The section with the promise: `§8.4.1`. */
  readonly section: string
  /** Absent: `must`. */
  readonly severity?: Severity
  /** Absent: captured traffic alone. */
  readonly needs?: readonly Need[]
  /** What a contract must promise for it; none for a rule of the formats themselves. */
  readonly promised: readonly PromiseName[]
  /** Only concurrent requests break it. */
  readonly isOfConcurrency?: boolean
  /** What `audit --explain` prints: how it is decided, and what it cannot detect, as paragraphs; one that begins with `- ` is a point. */
  readonly explain: string | readonly string[]
  decide(evidence: Evidence): Promise<Verdict>
  /** Findings on promises of its own, such as each part of a price: `PRICE-03:gpt-5.6:cache_read`. */
  findings?(evidence: Evidence): Promise<readonly Finding[]>
  /** Starts to load evidence that it shares with other rules, so that it is ready for `decide`. */
  prepare?(evidence: Evidence): Promise<unknown>
}

/** A run of several processes or hosts with missing parts. */
export interface MissingParts {
  readonly runId: string
  readonly of: number
  readonly present: number
}

/** The evidence for rules: the rows of the audited runs, and the contract, which makes the promises `P`. */
export interface Evidence<P extends PromiseName = never> {
  readonly store: Pick<Session, 'rows' | 'doubles' | 'doubleBatches' | 'path'>
  /** Where histories of accounts are kept if they do not fit in memory; absent if they do. */
  readonly columns?: ColumnFile
  /** The audited runs, oldest first. */
  readonly runIds: readonly string[]
  /** The killed ones: requests that were in flight have no row. */
  readonly killedRunIds?: readonly string[]
  /** Those with missing parts, whose requests have no rows but used the same accounts. */
  readonly missingParts?: readonly MissingParts[]
  readonly contract: Promising<P>
  /** The profile from `assay probe`, if given. */
  readonly profile?: DeploymentProfile
  /** The service's own log, if given. */
  readonly priceLog?: readonly LogRow[]
  /** Whether the log was read by the ids of answers. */
  readonly isLogById?: boolean
  /** Choices of the contract's factors, such as the group of the key. */
  readonly priceChoices?: Readonly<Record<string, string>>
}

export function hasPromises<P extends PromiseName>(
  evidence: Evidence,
  names: readonly P[],
): evidence is Evidence & Evidence<P> {
  return promises(evidence.contract, names)
}

/** Decides only with a contract that makes the promises, else `measure` or "not promised". */
export function whenPromised<P extends PromiseName>(
  names: readonly P[],
  decide: (evidence: Evidence<P>) => Verdict | Promise<Verdict>,
  measure?: (evidence: Evidence) => Promise<Measured | undefined>,
): Pick<Rule, 'promised' | 'decide'> {
  return {
    promised: names,
    async decide(evidence) {
      if (hasPromises(evidence, names)) return decide(evidence)
      const [first, ...others] = missingPromises(evidence.contract, names)
      return notPromised([first!, ...others], await measure?.(evidence))
    },
  }
}
