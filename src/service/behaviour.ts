import type {
  Band,
  Credits,
  FullContract,
  FullModel,
  Package,
  Window,
} from '../contract/contract.ts'
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
import type { GenerationRequest } from './request/generation-request.ts'
import type { RequestRules } from './request/rules.ts'
import type { CreditsReport, UsageReports } from './usage/report.ts'

export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
}

/** The times between the pieces of an answer. */
export interface Timing {
  readonly toFirstUs: number
  /** Time from one piece to the next. Each call draws a new one. */
  gapUs(): number
}

/** Receives an answer while it is made. */
export interface Sink {
  /**
   * Pieces to send together: one token each, except from an upstream. A promise says that the
   * client reads too slowly, and the caller waits for it if it can.
   */
  pieces(pieces: readonly Piece[]): void | Promise<void>
  done(answer: Answer): void
  fail(refusal: Refusal): void
}

export interface Piece {
  readonly choice: number
  readonly text: string
  readonly reasoning: boolean
  /** The tool that this text is arguments of. */
  readonly tool?: string
  /** The delta of a chat chunk from an upstream. It may hold more than text. */
  readonly relayed?: object
}

/** A whole response before it is written. */
export interface ServiceResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Buffer
}

/** An event of a stream: its name (messages format only) and its JSON. */
export interface StreamEvent {
  readonly name: string | null
  readonly data: object
}

/**
 * Everything that a client can notice about the service, one function each. The honest answers are
 * in `honest/`, where the profile chooses among the legal ones. A fault replaces one or two of
 * these functions and nothing else (see `faults/fault.ts`).
 */
export interface Behaviour {
  // Access
  /** The path that selects the endpoint, without its query. */
  path(call: Call): string
  presentedKey(call: Call): string | null
  /** The key that the client presented; null is 401. */
  keyFor(call: Call, presented: string | null): ApiKey | null
  modelList(call: Call): object
  /** The element of the model list for a model; null if there is none. */
  oneModel(call: Call, id: string): object | null
  // The request
  rules(call: Call): RequestRules
  modelFor(call: Call, id: string): FullModel | null
  /** The number of prompt tokens. Counting may stop at the model's limit: any number above it means too many. */
  promptTokens(call: Call, request: GenerationRequest): number
  /** The refusal if input or output exceeds a limit; null if both fit. */
  fits(call: Call): Refusal | null
  /** A failure of the service itself, before anything is reserved; null if there is none. */
  outage(call: Call): RefusalKind | null
  // Rate limits
  band(call: Call, balance: Credits): Band
  limits(call: Call): Readonly<Record<Window, number>>
  /** The subject of the rate limits: requests of one subject are counted together. */
  rateSubject(call: Call): string
  /** What the limits say of a request that is not counted yet. */
  look(call: Call): RateLook
  /** Counts the request, after the look at the limits. */
  count(call: Call): void
  rateHeaders(call: Call, look: RateLook, refused: boolean): Record<string, string>
  // Billing
  /** The caller keeps these two in the call, where `affords` reads them. */
  available(call: Call): Credits
  price(call: Call): Credits
  affords(call: Call): boolean
  /** Reserves the price. Returns the credits that are left, or null if there are too few. */
  reserve(call: Call): Credits | null
  /** Deducts the price of a completed request. */
  settle(call: Call, usage: Usage): void
  /** Returns the reserved credits of a failed request. */
  release(call: Call): void
  /** The end of the billing of a request whose client left. */
  onLeave(call: Call): 'settle' | 'release'
  creditsHeader(call: Call, credits: Credits): string | null
  /** @throws QueryError for an invalid query */
  creditsReport(call: Call): CreditsReport
  /** The report as the body of `GET /user/credits`. */
  creditsBody(call: Call, report: CreditsReport): object
  /**
   * Takes the price of a read of the models or the credits. False if the balance is too low.
   *
   * @throws QueryError for an invalid query
   */
  chargeRead(call: Call): boolean
  /** The report on the page of an account for a query of `GET /user/credits`. */
  pageReport(call: Call, accountId: number, query: string): CreditsReport
  // Customers
  /** When credits of a package bought now expire; null if they never do. */
  packageExpiryUs(chance: Chance, bought: Package, nowUs: number): number | null
  /** The inviter's reward when an account registers with its code. */
  inviteReward(chance: Chance): Credits
  /** The inviter's reward for a payment of an account that made `paymentsBefore` payments. */
  paymentReward(chance: Chance, paymentsBefore: number): Credits
  inviteAllowed(chance: Chance, inviter: number, invitee: number): boolean
  // The answer
  /** Starts making an answer. Returns a function that stops it. */
  generate(call: Call, sink: Sink): () => void
  answer(call: Call): Answer
  timing(call: Call, answer: Answer): Timing
  usage(call: Call, answer: Answer): Usage
  // The wire
  responseId(call: Call): string
  completion(call: Call, answer: Answer, usage: Usage): object
  events(call: Call, moment: StreamMoment): readonly StreamEvent[]
  frame(call: Call, event: StreamEvent): string
  /** The text after the last event of a stream. */
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

/** The parts that behaviours and faults work with. */
export interface Kit {
  readonly contract: FullContract
  readonly profile: Profile
  readonly clock: Clock
  readonly random: Random
  readonly database: Database
  readonly accounts: Accounts
  readonly ledger: Ledger
  readonly rates: RateTable
  readonly usage: UsageReports
}
