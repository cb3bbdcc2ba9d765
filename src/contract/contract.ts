/**
 * The promises of a credit-billed text-generation service, as data.
 *
 * Many rooms read it. Of ours, it imports only `money` and `tokens`. The auditor and the reference service thus share the
 * facts (prices, bands, names) but no logic. `load.ts` reads the contract of another deployment.
 */

/** Whole credits. */
export type Credits = number

export interface Model {
  readonly id: string
  /** Most tokens of input and output together. */
  readonly contextWindowTokens: number
  /** Price of one successful request. */
  readonly costCredits: Credits
  /** Whether `GET /v1/models` shows it (svc-k2.5 is usable, but not in the listing: gap G-02). */
  readonly listed: boolean
  readonly reasoning: boolean
}

/** The windows of the rate limits, shortest first. */
export const windows = ['minute', 'hour', 'day'] as const
export type Window = (typeof windows)[number]

/** Length of each window, in microseconds of the service's own time. */
export const windowUs: Readonly<Record<Window, number>> = {
  minute: 60e6,
  hour: 3600e6,
  day: 86_400e6,
}

/** A row of the rate-limit table: a range of the balance and its limits. */
export interface Band {
  readonly name: string
  /** Inclusive. */
  readonly minBalance: Credits
  /** Inclusive; null for no upper end. Neighbours may share an edge: the table overlaps at 10,000. */
  readonly maxBalance: Credits | null
  /** Most requests of one key in each window. */
  readonly requests: Readonly<Record<Window, number>>
}

/** The header that carries a key: its name in lower case, and the text before the key. */
export interface AuthHeader {
  readonly name: string
  readonly prefix: string
}

/** A row of the chat error table (§7.2), with the status that its meaning implies (§7.1). */
export interface ChatError {
  readonly code: string
  readonly type: string
  /** Null if the specification leaves the status open (gap G-27). */
  readonly status: number | null
}

/** A row of the messages error table (§7.3). */
export interface MessagesError {
  readonly type: string
  readonly statuses: readonly number[] | null
}

/** Inclusive. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** A package of credits for sale. */
export interface Package {
  readonly name: string
  readonly credits: Credits
  readonly priceUsdCents: number
  /** As in the price list, which truncates one row and rounds the others (BILL-20). */
  readonly listedUsdPerCredit: number
  /** Null if it never expires. */
  readonly validMonths: number | null
}

export interface Contract {
  readonly name: string
  readonly models: readonly Model[]
  readonly bands: readonly Band[]
  readonly paths: {
    readonly chat: string
    readonly messages: string
    readonly models: string
    readonly credits: string
  }
  readonly headers: {
    /** All lower case, as HTTP compares them. */
    readonly creditsRemaining: string
    readonly rateLimit: string
    readonly rateRemaining: string
    /** Null if a service promises none. */
    readonly rateReset: string | null
  }
  readonly auth: { readonly chat: AuthHeader; readonly messages: AuthHeader }
  readonly statuses: readonly number[]
  readonly chatErrors: readonly ChatError[]
  readonly messagesErrors: readonly MessagesError[]
  readonly finishReasons: readonly string[]
  readonly limits: {
    readonly maxInputTokens: number
    readonly maxOutputTokens: number
    readonly maxTotalTokens: number
    /** The largest value of the `max_tokens` parameter of chat. */
    readonly maxTokensParameter: number
    readonly maxStopSequences: number
  }
  readonly ranges: {
    readonly chatTemperature: Range
    readonly messagesTemperature: Range
    readonly penalty: Range
  }
  readonly defaults: {
    readonly temperature: number
    readonly topP: number
    readonly maxTokens: number
    readonly n: number
  }
  readonly timeouts: {
    readonly connectMs: number
    readonly readMs: number
    readonly streamMs: number
  }
  /** The specification's advice to clients on 429 (§7.5). */
  readonly retry: {
    readonly maxAttempts: number
    readonly baseDelayMs: number
    readonly jitterMs: number
    readonly maxDelayMs: number
  }
  readonly grants: {
    readonly newAccount: Credits
    readonly inviteRegistration: Credits
    readonly inviteFirstPayment: Credits
  }
  readonly packages: readonly Package[]
}

/** Price of one success; null for a model that is not in the contract. */
export function costOf(contract: Contract, modelId: string): Credits | null {
  return contract.models.find((model) => model.id === modelId)?.costCredits ?? null
}

/** Bands of a balance: two at a shared edge, none below the lowest band. */
export function bandsAt(contract: Contract, balance: Credits): readonly Band[] {
  return contract.bands.filter(
    (band) =>
      balance >= band.minBalance && (band.maxBalance === null || balance <= band.maxBalance),
  )
}
