/**
 * What a credit-billed text-generation service promises, as one value.
 *
 * Everybody reads it and it imports nobody, so that the auditor and the reference service share
 * the facts (prices, bands, names) and not a line of logic. Another deployment is another value
 * of the same type: see `load.ts`.
 */

/** Whole credits, the unit of billing. */
export type Credits = number

export interface Model {
  readonly id: string
  /** Tokens of input and output together that the model can hold. */
  readonly contextWindowTokens: number
  /** Price of one successful request. */
  readonly costCredits: Credits
  /** Whether `GET /v1/models` shows it (svc-k2.5 is usable, but not in the listing: gap G-02). */
  readonly listed: boolean
  readonly reasoning: boolean
}

/** The three windows in which requests are counted, shortest first. */
export const windows = ['minute', 'hour', 'day'] as const
export type Window = (typeof windows)[number]

/** Length of each window, in microseconds of the service's own time. */
export const windowUs: Readonly<Record<Window, number>> = {
  minute: 60e6,
  hour: 3600e6,
  day: 86_400e6,
}

/** A row of the rate-limit table: the limits that hold while the balance lies inside it. */
export interface Band {
  readonly name: string
  /** Inclusive. */
  readonly minBalance: Credits
  /** Inclusive; null has no upper end. Neighbours may share an edge: the table overlaps at 10,000. */
  readonly maxBalance: Credits | null
  /** Requests allowed for one key in each window. */
  readonly requests: Readonly<Record<Window, number>>
}

/** How a key travels: a header's name (lower case) and what stands before the key. */
export interface AuthHeader {
  readonly name: string
  readonly prefix: string
}

/** A row of the chat error table (§7.2), with the status that its meaning implies (§7.1). */
export interface ChatError {
  readonly code: string
  readonly type: string
  /** Null where the specification leaves the status open (gap G-27). */
  readonly status: number | null
}

/** A row of the messages error table (§7.3). */
export interface MessagesError {
  readonly type: string
  readonly statuses: readonly number[] | null
}

/** An inclusive range of a numeric parameter. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** A package of credits that customers buy. */
export interface Package {
  readonly name: string
  readonly credits: Credits
  readonly priceUsdCents: number
  /** As printed in the price list, which truncates one row and rounds the others (BILL-20). */
  readonly listedUsdPerCredit: number
  /** Null never expires. */
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
    /** Null where a service promises none. */
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
    /** The largest value that the `max_tokens` parameter of chat may state. */
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
  /** Guidance for clients on 429 (§7.5). */
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

/** Price of one success on a model; null for a model that the contract does not know. */
export function costOf(contract: Contract, modelId: string): Credits | null {
  return contract.models.find((model) => model.id === modelId)?.costCredits ?? null
}

/** Every band whose row holds this balance: two at a shared edge, none at zero or below. */
export function bandsAt(contract: Contract, balance: Credits): readonly Band[] {
  return contract.bands.filter(
    (band) =>
      balance >= band.minBalance && (band.maxBalance === null || balance <= band.maxBalance),
  )
}
