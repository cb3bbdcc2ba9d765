/**
 * The promises of a text-generation service, as data. It imports only `money` and `tokens`, so the auditor and the reference
 * service share the facts but no logic. A promise that a contract leaves out is not promised: `promises.ts` names them,
 * `usual.ts` has what a client uses instead.
 */
import { dayUs, hourUs } from '../user/durations.ts'
import type { PriceTerms } from './prices.ts'

/** Whole credits. */
export type Credits = number

export interface Model {
  readonly id: string
  /** Other names by which requests may ask for it, and responses may name it. */
  readonly aliases?: readonly string[]
  /** Versions of it, named like aliases. `dated`: responses may name the id and a date, as `gpt-4o-2024-08-06`. */
  readonly snapshots?: readonly string[] | 'dated'
  /** Most tokens of input and output together. */
  readonly contextWindowTokens?: number
  /** Price of one successful request. */
  readonly costCredits?: Credits
  /** Whether `GET /v1/models` shows it (svc-k2.5 is usable, but not in the listing: gap G-02). */
  readonly listed: boolean
  readonly reasoning: boolean
  /** What counts the tokens of a text as the service does. */
  readonly tokenizer?: Tokenizer
  /** Most tokens that the service adds to one user message. */
  readonly templateTokens?: number
  readonly cache?: CachePromise
  readonly tools?: ToolPromise
  /** Service tiers that are sold. */
  readonly servedTiers?: readonly ServedTier[]
  /** Most tokens of hidden reasoning of one answer. */
  readonly maxReasoningTokens?: number
  /** Whether the model behind the name stays the same: always, or from a UTC day on (`2026-03-14`). */
  readonly fixed?: true | string
  /** Where the same model is sold by its maker, for comparison. */
  readonly reference?: ReferenceEndpoint
}

/** Another service with the same model. Its key is that of the runs against it, never a part of a contract. */
export interface ReferenceEndpoint {
  readonly baseUrl: string
  /** Its name there, if that is another one. */
  readonly model?: string
}

/** What is promised of cached prompts. A miss is always honest. */
export interface CachePromise {
  /** Prompts of fewer tokens are not cached. */
  readonly leastTokens?: number
  /** Cached tokens are a multiple of it. */
  readonly stepTokens?: number
}

export interface ToolPromise {
  /** Least share of calls whose arguments fit the schema of the tool. */
  readonly schema?: number
  /** Whether arguments that a request gives word by word come as they are. */
  readonly intact?: true
}

export interface ServedTier {
  /** The value of `service_tier`. */
  readonly tier: string
  /** Most time to the first token, as a share of that of the default tier. */
  readonly ttft?: number
}

/** Encodings whose tokens can be counted here: those of gpt-tokenizer. */
export const encodingNames = ['o200k', 'cl100k', 'p50k', 'r50k'] as const
export type EncodingName = (typeof encodingNames)[number]
/** Their other names: those of tiktoken, and of encodings that differ in control tokens alone. */
export const encodingAliases: Readonly<Record<string, EncodingName>> = {
  ...{ o200k_base: 'o200k', o200k_harmony: 'o200k', cl100k_base: 'cl100k' },
  ...{ p50k_base: 'p50k', p50k_edit: 'p50k', r50k_base: 'r50k', gpt2: 'r50k' },
}
/** The absolute path of a `tokenizer.json`, as open models have it. */
export type TokenizerFile = `${string}.json`
export type Tokenizer = EncodingName | TokenizerFile

export const isTokenizerFile = (tokenizer: string): tokenizer is TokenizerFile =>
  tokenizer.endsWith('.json')

export interface PricedModel extends Model {
  readonly costCredits: Credits
}

export interface FullModel extends PricedModel {
  readonly contextWindowTokens: number
}

/** The windows of the rate limits, shortest first. */
export const windows = ['minute', 'hour', 'day'] as const
export type Window = (typeof windows)[number]

/** Length of each window, in microseconds of the service's own time. */
export const windowUs: Readonly<Record<Window, number>> = {
  minute: 60e6,
  hour: hourUs,
  day: dayUs,
}

/** The length of another window: `10s`, `5h`, `7d`. */
export type Length = `${number}${keyof typeof unitUs}`
const unitUs = { s: 1e6, m: 60e6, h: hourUs, d: dayUs } as const
export const lengthPattern = /^([1-9]\d{0,5})([smhd])$/

/** A window in which requests are limited. */
export type LimitWindow = Window | Length

/** The length of a window, in microseconds of the service's own time. */
export function lengthUs(window: LimitWindow): number {
  const [, number, unit] = lengthPattern.exec(window) ?? []
  return number === undefined
    ? windowUs[window as Window]
    : Number(number) * unitUs[unit as keyof typeof unitUs]
}

export const windowsOf = ({ requests }: Band) => Object.keys(requests) as LimitWindow[]

/** Most requests in a window; Infinity if none are promised. */
export const limitOf = ({ requests }: Band, window: LimitWindow): number =>
  requests[window] ?? Number.POSITIVE_INFINITY

/** Lengths of windows that begin by the calendar of a zone. */
export const calendarLengths = ['minute', 'hour', 'day', 'week', 'month'] as const

export const weekdayNames = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const

/** Most requests of one key in each window of a calendar. */
export interface CalendarLimit {
  readonly each: (typeof calendarLengths)[number]
  readonly requests: number
  /** An IANA zone, or an offset such as `+05:30`. */
  readonly zone: string
  /** The day on which a week or a month begins; absent: Monday, and the first. */
  readonly begins?: (typeof weekdayNames)[number] | number
  /** The time at which a day, a week or a month begins, `08:00`; absent: midnight. */
  readonly at?: string
}

/** A row of the rate-limit table: a range of the balance and its limits. */
export interface Band {
  readonly name: string
  /** Inclusive. */
  readonly minBalance: Credits
  /** Inclusive; null for no upper end. Neighbours may share an edge: the table overlaps at 10,000. */
  readonly maxBalance: Credits | null
  /** Most requests of one key in each window; Infinity if none are promised. */
  readonly requests: Readonly<Record<Window, number>> & {
    readonly [length: Length]: number | undefined
  }
  readonly calendar?: readonly CalendarLimit[]
  /** Most requests of one key that are answered at the same time. */
  readonly inFlight?: number
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

/** Fields of responses beyond those that their format requires. */
export interface ResponseFields {
  readonly chat: readonly string[]
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

/** The model that a request asks for, by its id, an alias or a listed snapshot. */
export const modelNamed = <M extends Model>(models: readonly M[], name: string): M | undefined =>
  models.find((model) => namesOf(model).includes(name))

/** The promised price of one success, for each name by which a request may ask. */
export function pricesOf({ models = [] }: Contract) {
  return models.flatMap((model) => {
    const { costCredits } = model
    return costCredits === undefined ? [] : namesOf(model).map((id) => ({ id, costCredits }))
  })
}

/** Whether a response to a request for this name may name the other one. */
export function mayBeNamed(models: readonly Model[], asked: string, answered: string): boolean {
  if (asked === answered) return true
  const model = modelNamed(models, asked)
  return model !== undefined && (namesOf(model).includes(answered) || isDated(model, answered))
}

export const namesOf = ({ id, aliases = [], snapshots = [] }: Model): readonly string[] => [
  id,
  ...aliases,
  ...(snapshots === 'dated' ? [] : snapshots),
]

/** A regular expression: `-2024-07-18`, `-20240718`, `@20240718` or `-0718` after an id. */
export const datePattern = '[-@:]([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4})'
const date = new RegExp(`^${datePattern}$`)

const isDated = ({ id, snapshots }: Model, name: string): boolean =>
  snapshots === 'dated' && name.startsWith(id) && date.test(name.slice(id.length))

/** Price of one success; null for a model without a promised price. */
export const costOf = ({ models = [] }: Contract, name: string): Credits | null =>
  modelNamed(models, name)?.costCredits ?? null

/** Bands of a balance: two at a shared edge, none below the lowest band. */
export function bandsAt({ bands = [] }: Contract, balance: Credits): readonly Band[] {
  return bands.filter(
    (band) =>
      balance >= band.minBalance && (band.maxBalance === null || balance <= band.maxBalance),
  )
}
