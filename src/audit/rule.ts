import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/open.ts'
import type { Need, Severity, Verdict } from './verdict.ts'

/** A rule of the rulebook: a small object in a list, named by its stable id. */
export interface Rule {
  readonly id: string
  /** The promise, in one sentence. */
  readonly title: string
  /** Where the specification makes it: `§8.4.1`. */
  readonly section: string
  readonly severity: Severity
  readonly needs: readonly Need[]
  /** Broken by requests in flight together: one alone shows nothing. */
  readonly isOfConcurrency?: boolean
  /** How it is decided and what it cannot see; printed by `audit --explain`. */
  readonly explain: string
  decide(evidence: Evidence): Promise<Verdict>
  /** Begins to load what it shares with other rules, so that it is there when its turn comes. */
  prepare?(evidence: Evidence): Promise<unknown>
}

/** A run of several processes or hosts, of which not all are there. */
export interface MissingParts {
  readonly runId: string
  readonly of: number
  readonly present: number
}

/** What rules look at: the rows of the audited runs and the promises they are held to. */
export interface Evidence {
  readonly store: Pick<Store, 'rows' | 'doubles' | 'path'>
  /** The audited runs, oldest first. */
  readonly runIds: readonly string[]
  /** Those of them that were killed: what was in flight then has no row. */
  readonly killedRunIds?: readonly string[]
  /** Those of which parts are missing: what these sent has no row, and used the same accounts. */
  readonly missingParts?: readonly MissingParts[]
  readonly contract: Contract
  /** What the deployment answered to `assay probe`, where somebody asked it. */
  readonly profile?: DeploymentProfile
}
