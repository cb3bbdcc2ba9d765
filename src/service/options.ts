import type { FullContract } from '../contract/contract.ts'
import type { Clock, MovableClock } from './clock.ts'
import type { Distribution } from './distribution.ts'
import type { Fault } from './faults/fault.ts'
import type { Durability } from './ledger/database.ts'
import type { ProfileAnswers } from './profile.ts'
import type { UpstreamOptions } from './upstream/target.ts'

/** Failures of the service itself, such as an honest service has. They are never charged. */
export interface Outage {
  readonly status: 500 | 503
  readonly probability: number
}

/** The speed and the length of answers, in the service's time. */
export interface Shape {
  /** Time to the first token, in microseconds. */
  readonly timeToFirstUs: Distribution
  /** Time from one token to the next, in microseconds. */
  readonly betweenTokensUs: Distribution
  /** The intended length of a made-up answer, before limits. */
  readonly lengthTokens: Distribution
}

export interface AccountRequest {
  readonly name: string
  readonly balance: number
}

export interface ServiceOptions {
  readonly host?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /** The same seed gives the same answers, draws and keys. */
  readonly seed?: number
  /** Default: real time. `timeScale` applies to real time only. */
  readonly clock?: Clock | MovableClock
  /** Seconds of service time per second. */
  readonly timeScale?: number
  readonly profile?: ProfileAnswers
  /** `name`, `name=probability` or `name=#nth`, or a fault that is on no list. */
  readonly faults?: readonly (string | Fault)[]
  /** Legal ways to bill in money that look wrong, by name. They need a contract with prices. */
  readonly conducts?: readonly string[]
  /** A file to which each row of the log of money is added, as a line of JSON. */
  readonly spendLogPath?: string
  /** A SQLite file. Default: `:memory:`. */
  readonly dataPath?: string
  readonly durability?: Durability
  readonly contract?: FullContract
  /** One account with a ready key each. Default: one in each band. */
  readonly accounts?: readonly AccountRequest[]
  readonly shape?: Partial<Shape>
  readonly outage?: Outage
  /** Allows moving the clock and balances by `/operator/`, from this machine. Default: off. */
  readonly operatorKey?: string
  /** All clients come through a proxy: the last entry of `X-Forwarded-For` is the client. */
  readonly trustProxy?: boolean
  /** Origins whose pages may frame `/my-credits` and the credits endpoint. Default: none. */
  readonly frameOrigins?: readonly string[]
  /** The time limit for the head of a request. Default: 10 seconds. */
  readonly headTimeoutMs?: number
  /** Another server that makes the answers. Default: answers are made up here. */
  readonly upstream?: UpstreamOptions
}

/** A ready account and its key. The key is shown here only. */
export interface ReadyKey {
  readonly name: string
  /** The row of the rate-limit table for the balance; null for an empty account. */
  readonly band: string | null
  readonly balance: number
  readonly account: number
  readonly apiKey: string
}
