import type { Contract } from '../contract/contract.ts'
import type { Clock, MovableClock } from './clock.ts'
import type { Distribution } from './distribution.ts'
import type { Fault } from './faults/fault.ts'
import type { Durability } from './ledger/database.ts'
import type { ProfileAnswers } from './profile.ts'
import type { UpstreamOptions } from './upstream/target.ts'

/** Failures of the service's own, as an honest service has them: never charged. */
export interface Outage {
  readonly status: 500 | 503
  readonly probability: number
}

/** How fast answers come and how long they are, in the service's own time. */
export interface Shape {
  /** Time to the first token, in microseconds. */
  readonly timeToFirstUs: Distribution
  /** Time from one token to the next, in microseconds. */
  readonly betweenTokensUs: Distribution
  /** How long a made-up answer wants to be, before limits. */
  readonly lengthTokens: Distribution
}

export interface AccountRequest {
  readonly name: string
  readonly balance: number
}

export interface ServiceOptions {
  readonly host?: string
  /** 0, the default, lets the system pick. */
  readonly port?: number
  /** Same seed, same answers, same draws, same keys. */
  readonly seed?: number
  /** Real time unless given; `timeScale` belongs to real time alone. */
  readonly clock?: Clock | MovableClock
  /** Seconds of service time per second. */
  readonly timeScale?: number
  readonly profile?: ProfileAnswers
  /** `name`, `name=probability` or `name=#nth`; or one that has no name on any list. */
  readonly faults?: readonly (string | Fault)[]
  /** A SQLite file, or `:memory:`, the default. */
  readonly dataPath?: string
  readonly durability?: Durability
  readonly contract?: Contract
  /** One account with a ready key each; by default one in each band. */
  readonly accounts?: readonly AccountRequest[]
  readonly shape?: Partial<Shape>
  readonly outage?: Outage
  /** Who sends it may move the clock and balances by `/operator/`, from this machine; off unless given. */
  readonly operatorKey?: string
  /** Every client comes through a proxy, and is who its `X-Forwarded-For` ends with. */
  readonly trustProxy?: boolean
  /** How long the head of a request may take; ten seconds unless given. */
  readonly headTimeoutMs?: number
  /** Another server that makes the answers; by default they are made up here. */
  readonly upstream?: UpstreamOptions
}

/** A ready account and its key, which is shown here and nowhere else. */
export interface ReadyKey {
  readonly name: string
  /** The row of the rate-limit table that the balance is in; null for an empty account. */
  readonly band: string | null
  readonly balance: number
  readonly account: number
  readonly apiKey: string
}
