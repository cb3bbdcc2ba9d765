import type { Band, Contract, Credits, Model, Package, Window } from '../contract/contract.ts'
import type { Call, RateLook } from './call.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { Answer } from './generate.ts'
import type { Accounts, ApiKey } from './ledger/accounts.ts'
import type { Database } from './ledger/database.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Profile } from './profile.ts'
import type { Random } from './random.ts'
import type { RateTable } from './rates.ts'
import type { Refusal, RefusalKind, WireError } from './refusal.ts'
import type { GenerationRequest, RequestRules } from './request.ts'
import type { CreditsReport, UsageReports } from './usage/report.ts'

export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
}

/** When the pieces of an answer come. */
export interface Timing {
  readonly toFirstUs: number
  /** Time from one piece to the next, drawn anew for each. */
  gapUs(): number
}

/** Receives an answer as it is made. */
export interface Sink {
  /**
   * Pieces that come together, one token each unless an upstream says otherwise. Who can wait does:
   * a promise says that the client reads more slowly than it is given.
   */
  pieces(pieces: readonly Piece[]): void | Promise<void>
  done(answer: Answer): void
  fail(refusal: Refusal): void
}

export interface Piece {
  readonly choice: number
  readonly text: string
  readonly reasoning: boolean
  /** The delta of a chat chunk as an upstream sent it: it may hold more than text. */
  readonly relayed?: object
}

/** A whole response, before it is written. */
export interface ServiceResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Buffer
}

/** An event of a stream: its name (messages format alone) and its JSON. */
export interface StreamEvent {
  readonly name: string | null
  readonly data: object
}

/**
 * Everything that the service does which somebody outside can notice, one function each. The
 * honest answers are in `honest/`, where the profile chooses among the legal ones; a fault
 * replaces one or two of these functions and nothing else (see `faults/fault.ts`).
 */
export interface Behaviour {
  // Access
  /** The path that counts, without query. */
  path(call: Call): string
  presentedKey(call: Call): string | null
  /** The account's key for what was presented; null is 401. */
  keyFor(call: Call, presented: string | null): ApiKey | null
  modelList(call: Call): object
  // The request
  rules(call: Call): RequestRules
  modelFor(call: Call, id: string): Model | null
  /** Beyond what the model may take, some number that is beyond it, too. */
  promptTokens(call: Call, request: GenerationRequest): number
  /** Whether input and output fit the limits. */
  fits(call: Call): Refusal | null
  /** A failure of the service's own, before anything is reserved; null for none. */
  outage(call: Call): RefusalKind | null
  // Rate limits
  band(call: Call, balance: Credits): Band
  limits(call: Call): Readonly<Record<Window, number>>
  /** Whose requests are counted together. */
  rateSubject(call: Call): string
  look(call: Call): RateLook
  count(call: Call): void
  rateHeaders(call: Call, look: RateLook, refused: boolean): Record<string, string>
  // Billing
  available(call: Call): Credits
  price(call: Call): Credits
  affords(call: Call): boolean
  /** Sets the price aside; gives what is left, or null when it cannot. */
  reserve(call: Call): Credits | null
  /** Deducts it: the request completed. */
  settle(call: Call, usage: Usage): void
  /** Gives it back: the request failed. */
  release(call: Call): void
  /** What becomes of a request whose client left. */
  onLeave(call: Call): 'settle' | 'release'
  creditsHeader(call: Call, credits: Credits): string | null
  /** @throws QueryError for a query that cannot be followed */
  creditsReport(call: Call): CreditsReport
  /** The report as the body of `GET /user/credits`. */
  creditsBody(call: Call, report: CreditsReport): object
  /**
   * Takes what a read of the models or the credits costs; false where the balance lacks it.
   *
   * @throws QueryError for a query that cannot be followed
   */
  chargeRead(call: Call): boolean
  /** What the page of an account shows for a query of `GET /user/credits`. */
  pageReport(call: Call, accountId: number, query: string): CreditsReport
  // Customers
  /** When credits of a package bought now expire; null for never. */
  packageExpiryUs(chance: Chance, bought: Package, nowUs: number): number | null
  /** What the inviter gets for an account that registers with its code. */
  inviteReward(chance: Chance): Credits
  /** What the inviter gets for a payment of an account that made so many before. */
  paymentReward(chance: Chance, paymentsBefore: number): Credits
  inviteAllowed(chance: Chance, inviter: number, invitee: number): boolean
  // The answer
  /** Starts making an answer; gives the way to stop. */
  generate(call: Call, sink: Sink): () => void
  answer(call: Call): Answer
  timing(call: Call, answer: Answer): Timing
  usage(call: Call, answer: Answer): Usage
  // The wire
  responseId(call: Call): string
  completion(call: Call, answer: Answer, usage: Usage): object
  events(call: Call, moment: StreamMoment): readonly StreamEvent[]
  frame(call: Call, event: StreamEvent): string
  /** What ends a stream after its last event. */
  ending(call: Call): string
  wireError(call: Call, refusal: Refusal): WireError
  errorBody(call: Call, error: WireError): object
  headers(call: Call, status: number, headers: Record<string, string>): Record<string, string>
  respond(call: Call, response: ServiceResponse): ServiceResponse
}

/** The moments of a stream at which events are made. */
export type StreamMoment =
  | { readonly at: 'start' }
  | { readonly at: 'pieces'; readonly pieces: readonly Piece[] }
  | { readonly at: 'end'; readonly answer: Answer; readonly usage: Usage }
  | { readonly at: 'failure'; readonly refusal: Refusal }

/** What behaviours and faults are made of. */
export interface Kit {
  readonly contract: Contract
  readonly profile: Profile
  readonly clock: Clock
  readonly random: Random
  readonly database: Database
  readonly accounts: Accounts
  readonly ledger: Ledger
  readonly rates: RateTable
  readonly usage: UsageReports
}
