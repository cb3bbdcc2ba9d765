import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/open.ts'
import type { Need, Severity, Verdict } from './verdict.ts'

/** A rule of the rulebook, identified by its stable id. */
export interface Rule {
  readonly id: string
  /** The promise as one sentence. */
  readonly title: string
  /** The section with the promise: `§8.4.1`. */
  readonly section: string
  readonly severity: Severity
  readonly needs: readonly Need[]
  /** Only concurrent requests break it. */
  readonly isOfConcurrency?: boolean
  /** How it is decided, and what it cannot detect; printed by `audit --explain`. */
  readonly explain: string
  decide(evidence: Evidence): Promise<Verdict>
  /** Starts to load evidence that it shares with other rules, so that it is ready for `decide`. */
  prepare?(evidence: Evidence): Promise<unknown>
}

/** A run of several processes or hosts with missing parts. */
export interface MissingParts {
  readonly runId: string
  readonly of: number
  readonly present: number
}

/** The evidence for rules: the rows of the audited runs, and the promises. */
export interface Evidence {
  readonly store: Pick<Store, 'rows' | 'doubles' | 'path'>
  /** The audited runs, oldest first. */
  readonly runIds: readonly string[]
  /** The killed ones: requests that were in flight have no row. */
  readonly killedRunIds?: readonly string[]
  /** Those with missing parts, whose requests have no rows but used the same accounts. */
  readonly missingParts?: readonly MissingParts[]
  readonly contract: Contract
  /** The profile from `assay probe`, if given. */
  readonly profile?: DeploymentProfile
}
