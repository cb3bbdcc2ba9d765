/**
 * The promises of a text-generation service, as data. It imports only `money` and `tokens`, so the auditor and the reference
 * service share the facts but no logic. A promise that a contract leaves out is not promised: `promises.ts` names them,
 * `usual.ts` has what a client uses instead.
 */
import type { Band } from './bands.ts'
import type { Credits } from './credits.ts'
import { type FullModel, type Model, modelNamed, namesOf } from './model.ts'
import type { PriceTerms } from './prices.ts'

export * from './bands.ts'
export type { Credits } from './credits.ts'
export * from './model.ts'

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

export interface Paths {
  readonly chat: string
  readonly messages: string
  readonly models: string
  readonly credits: string
}

/** Names of a header, any of which a service may send; the first one is usual. Lower case, as HTTP compares them. */
export type HeaderNames = readonly [string, ...string[]]

export interface Headers {
  readonly creditsRemaining: HeaderNames
  readonly rateLimit: HeaderNames
  readonly rateRemaining: HeaderNames
  readonly rateReset: HeaderNames
  readonly tokenLimit: HeaderNames
  readonly tokenRemaining: HeaderNames
  readonly tokenReset: HeaderNames
}

/** Names of the structured fields of a rate limit. A contract may name them for the limit, the rest and the reset. */
export const structuredNames: readonly string[] = ['ratelimit', 'ratelimit-policy']

/** Forms of a reset: a plain number in any one unit, or in this one, a duration (`6m0s`), or a time (ISO 8601 or HTTP). */
export const resetFormats = [
  'number',
  'delta-s',
  'delta-ms',
  'epoch-s',
  'epoch-ms',
  'epoch-us',
  'duration',
  'time',
] as const
export type ResetFormat = (typeof resetFormats)[number]

export interface AuthHeaders {
  readonly chat: AuthHeader
  readonly messages: AuthHeader
}

export interface TokenLimits {
  readonly maxInputTokens: number
  readonly maxOutputTokens: number
  readonly maxTotalTokens: number
  /** The largest value of the `max_tokens` parameter of chat. */
  readonly maxTokensParameter: number
  readonly maxStopSequences: number
}

export interface ParameterRanges {
  readonly chatTemperature: Range
  readonly messagesTemperature: Range
  readonly penalty: Range
}

export interface ParameterDefaults {
  readonly temperature: number
  readonly topP: number
  readonly maxTokens: number
  readonly n: number
}

export interface Timeouts {
  readonly connectMs: number
  readonly readMs: number
  readonly streamMs: number
}

/** Advice to clients on 429 (§7.5). */
export interface RetryAdvice {
  readonly maxAttempts: number
  readonly baseDelayMs: number
  readonly jitterMs: number
  readonly maxDelayMs: number
}

export interface Grants {
  readonly newAccount: Credits
  readonly inviteRegistration: Credits
  readonly inviteFirstPayment: Credits
}

/** What the credits endpoint may show. */
export const creditsTopics = [
  'consumed',
  'remaining',
  'by_day',
  'by_hour',
  'average_tokens',
] as const

export type CreditsTopic = (typeof creditsTopics)[number]

/** Fields of responses beyond those that their format requires. */
export interface ResponseFields {
  readonly chat: readonly string[]
  readonly credits: readonly CreditsTopic[]
  /** Of each element of the model list. */
  readonly model: readonly string[]
}

/** What a service promises. An absent field is not promised, and no rule judges it. */
export interface Contract {
  readonly name: string
  /** Prices of any kind; absent: what `costCredits` says. */
  readonly prices?: PriceTerms
  /** Reached over HTTPS only. */
  readonly https?: boolean
  /** Responses allow browsers of other origins. */
  readonly crossOrigin?: boolean
  readonly models?: readonly Model[]
  readonly bands?: readonly Band[]
  readonly paths?: Partial<Paths>
  readonly headers?: Partial<Headers>
  /** Absent: any of the forms, and any unit. */
  readonly resetFormat?: ResetFormat
  readonly auth?: Partial<AuthHeaders>
  readonly statuses?: readonly number[]
  readonly chatErrors?: readonly ChatError[]
  readonly messagesErrors?: readonly MessagesError[]
  readonly finishReasons?: readonly string[]
  readonly responseFields?: Partial<ResponseFields>
  readonly limits?: Partial<TokenLimits>
  readonly ranges?: Partial<ParameterRanges>
  readonly defaults?: Partial<ParameterDefaults>
  readonly timeouts?: Partial<Timeouts>
  readonly retry?: Partial<RetryAdvice>
  readonly grants?: Partial<Grants>
  readonly packages?: readonly Package[]
}

/** A contract with every promise, as the reference service keeps it. */
export interface FullContract
  extends Required<Omit<Contract, 'prices' | 'resetFormat'>>,
    Pick<Contract, 'prices' | 'resetFormat'> {
  readonly models: readonly FullModel[]
  readonly paths: Paths
  readonly headers: Partial<Headers> &
    Pick<Headers, 'creditsRemaining' | 'rateLimit' | 'rateRemaining'>
  readonly auth: AuthHeaders
  readonly responseFields: ResponseFields
  readonly limits: TokenLimits
  readonly ranges: ParameterRanges
  readonly defaults: ParameterDefaults
  readonly timeouts: Timeouts
  readonly retry: RetryAdvice
  readonly grants: Grants
}

/** The promised price of one success, for each name by which a request may ask. */
export function pricesOf({ models = [] }: Contract) {
  return models.flatMap((model) => {
    const { costCredits } = model
    return costCredits === undefined ? [] : namesOf(model).map((id) => ({ id, costCredits }))
  })
}

/** Price of one success; null for a model without a promised price. */
export const costOf = ({ models = [] }: Contract, name: string): Credits | null =>
  modelNamed(models, name)?.costCredits ?? null
