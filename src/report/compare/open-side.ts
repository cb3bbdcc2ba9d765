import type { Contract } from '../../contract/contract.ts'
import type { Session } from '../../store/session/session.ts'

/** A run of a comparison, in a session of its store. */
export interface OpenSide {
  readonly session: Session
  readonly runId: string
  readonly contract: Contract
}
