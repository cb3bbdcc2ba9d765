import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/open.ts'
import type { Need, Severity, Verdict } from './verdict.ts'

/** A rule of the rulebook: a small object in a list, named by its stable id. */
export interface Rule {
  readonly id: string
  /** The promise, in one sentence. */
  readonly says: string
  /** Where the specification makes it: `§8.4.1`. */
  readonly section: string
  readonly severity: Severity
  readonly needs: readonly Need[]
  /** How it is decided and what it cannot see; printed by `audit --explain`. */
  readonly explain: string
  decide(evidence: Evidence): Promise<Verdict>
  /** Begins to load what it shares with other rules, so that it is there when its turn comes. */
  prepare?(evidence: Evidence): Promise<unknown>
}

/** What rules look at: the rows of the audited runs and the promises they are held to. */
export interface Evidence {
  readonly store: Pick<Store, 'rows' | 'doubles'>
  /** The audited runs, oldest first. */
  readonly runIds: readonly string[]
  /** Those of them that were killed: what was in flight then has no row. */
  readonly killedRunIds?: readonly string[]
  readonly contract: Contract
  /** What the deployment answered to `assay probe`, where somebody asked it. */
  readonly profile?: DeploymentProfile
}
