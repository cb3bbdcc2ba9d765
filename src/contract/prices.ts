/** The price language of contracts as data (docs/prices.md): `read-prices.ts` reads it, `src/price/` computes with it. */
import type { Currency } from '../money/money.ts'
import type { Rational, Rounding } from '../money/rational.ts'
import type { DialectName } from '../tokens/dialects.ts'
import type { Part } from '../tokens/usage.ts'

/** Token prices for 1,000,000 tokens, each with the price that holds if it is not written: input for all input. */
export const tokenPrices = {
  input: null,
  cache_read: 'input',
  cache_read_audio: 'cache_read',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  input_audio: 'input',
  input_image: 'input',
  output: null,
  reasoning: 'output',
  output_audio: 'output',
  output_image: 'output',
  citation: 'output',
} as const satisfies Record<string, string | null>
export type TokenPrice = keyof typeof tokenPrices
export const tokenPriceNames = Object.keys(tokenPrices) as readonly TokenPrice[]

export const priceOfPart: Readonly<Record<Part, TokenPrice>> = {
  input_uncached: 'input',
  cache_read: 'cache_read',
  cache_read_audio: 'cache_read_audio',
  cache_write: 'cache_write',
  cache_write_1h: 'cache_write_1h',
  input_audio: 'input_audio',
  input_image: 'input_image',
  output_visible: 'output',
  reasoning: 'reasoning',
  output_audio: 'output_audio',
  output_image: 'output_image',
  citation: 'citation',
}

/** Prices of one request, call, second, image, page or character. A tool's own price is `tool.<name>`. */
export const feeNames = ['request', 'search', 'second', 'image', 'page', 'character'] as const

/** One price: `open` promises nothing about it. */
export interface PriceEntry {
  readonly price: Rational | 'open'
  /** How many tokens, calls or seconds it is for. */
  readonly per: Rational
  /** The least count that is billed, such as 15 seconds. */
  readonly minimum?: Rational
  /** Counts are billed in whole steps of this, rounded up. */
  readonly step?: Rational
}

export type Price = Readonly<Record<string, PriceEntry>>

export interface TierStep {
  /** The step begins above this count, or at it. */
  readonly above?: Rational
  readonly from?: Rational
  readonly price: Price
  readonly times: Rational
}

export const tierCounts = ['prompt', 'input'] as const
export const tierUses = ['whole', 'marginal'] as const

export interface Tiers {
  /** `prompt`: the whole prompt with reads and writes. `input`: without them. */
  readonly count: (typeof tierCounts)[number]
  /** `whole`: one price for all parts. `marginal`: each part is cut at the thresholds by its own count. */
  readonly apply: (typeof tierUses)[number]
  /** By rising thresholds. */
  readonly steps: readonly TierStep[]
}

/** What replaces entries of a price, or multiplies all of them. */
export interface PriceOverlay {
  readonly price: Price
  readonly tiers: Tiers | null
  readonly times: Rational
}

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
export type Weekday = (typeof weekdays)[number]

export interface Hours extends PriceOverlay {
  readonly days: readonly Weekday[]
  /** Days without it, `2026-10-01`. */
  readonly except: readonly string[]
  /** Minutes of the UTC day, from inclusive, to exclusive. A window past midnight belongs to the day it begins. */
  readonly windows: readonly { readonly from: number; readonly to: number }[]
}

export interface Change extends PriceOverlay {
  readonly fromMs: number
}

/** How a request ended, as far as its charge is concerned. */
export const chargedOutcomes = [
  ...['success', 'refused', 'broken', 'abort', 'empty', 'filtered', 'gateway_cache'],
  ...['inner_attempt'],
] as const
export type ChargedOutcome = (typeof chargedOutcomes)[number]

/** `input`: as if there were no output. `received`: the tokens that the client received. `open`: no promise. */
export const charges = ['full', 'input', 'received', 'none', 'open'] as const
export type Charge = (typeof charges)[number]

/** The value of a name that stands for every value without an entry. */
export const anyValue = 'any'

/** What is rounded: the cost of a request, or each part of it. */
export const roundedAt = ['request', 'component'] as const

export interface RoundingTerms {
  readonly at: (typeof roundedAt)[number]
  readonly digits: number
  readonly mode: Rounding
}

/** One factor of the cost. A choice depends on the request: its group, its region. */
export type Factor =
  | { readonly value: Rational }
  | { readonly choices: Readonly<Record<string, Rational>> }

/** The model that a price is of: the one that was asked for, or the one that answered. */
export const pricedModels = ['requested', 'returned'] as const
export const servedModels = ['requested', 'any'] as const
/** The moment of a request that decides its price. */
export const priceClocks = ['either', 'start', 'end'] as const

export interface ModelPrice extends PriceOverlay {
  readonly id: string
  /** Null: the dialect follows from the endpoint and the fields. */
  readonly dialect: DialectName | null
  /** By rising moment. */
  readonly changes: readonly Change[]
  readonly service: Readonly<Record<string, PriceOverlay>>
  /** By a name in the usage, and by its value: `{ speed: { fast: … } }`. `any` is every value without an entry. */
  readonly by: Readonly<Record<string, Readonly<Record<string, PriceOverlay>>>>
  readonly hours: readonly Hours[]
  readonly factors: Readonly<Record<string, Factor>>
  readonly round: RoundingTerms | null
  readonly minimum: Rational | null
  readonly charged: Readonly<Record<ChargedOutcome, Charge>>
  readonly priced: (typeof pricedModels)[number]
  /** `any`: another model may serve the request, at its own price. */
  readonly served: (typeof servedModels)[number]
  readonly clock: (typeof priceClocks)[number]
}

/** Where the service shows money. */
export interface PriceEvidence {
  /** Cost of the request in its answer: a header, or a place of the body. */
  readonly cost: readonly StatedPlace[]
  readonly balance: BalanceTerms | null
  readonly log: LogTerms | null
}

export type StatedPlace = ({ readonly header: string } | { readonly body: string }) & {
  /** One unit of the place in the currency: 1/10000000000 for ticks. */
  readonly times: Rational
}

export const balanceMoves = ['down', 'up'] as const

/** One value of a balance: where it is, and which way a charge moves it. */
export interface BalanceValue {
  readonly header: string | null
  /** The place in the body. */
  readonly value: string | null
  readonly moves: (typeof balanceMoves)[number]
  readonly times: Rational
}

export interface BalanceTerms extends BalanceValue {
  /** The path to get, or null for a header of each answer. */
  readonly get: string | null
  /** Further values of the same page or answers, such as what is used beside what remains: a fall of one is a rise of the other. */
  readonly also: readonly BalanceValue[]
  /** What a spend may not pass, and what remains and is used add up to: an amount, or its place beside the value. */
  readonly limit: Rational | string | null
  /** One unit of the limit in the currency. */
  readonly limitTimes: Rational
  /** The least that a balance may be, in the currency: below 0 where it is paid later; null if nothing promises it. */
  readonly lowest: Rational | null
  /** Grants that the balance is the sum of, on the same page; null if nothing lists them. */
  readonly grants: GrantPlaces | null
  /** How late the value may be. */
  readonly withinMs: number
  /** Whether the contract says so: what it leaves out is at once for a reader, and no promise. */
  readonly isWithinPromised: boolean
}

/** Where a page lists grants: the list, and in each of them what is left of it, and when that expires. */
export interface GrantPlaces {
  readonly list: string
  readonly left: string
  readonly expires: string
}

/** Each value of a balance, as the terms of that value alone. */
export const valuesOf = (terms: BalanceTerms): readonly BalanceTerms[] => [
  terms,
  ...terms.also.map((value) => ({ ...terms, ...value, also: [] })),
]

/** Counts that a row of a log may have: all of the prompt, all of the output, and parts of them. */
export const logTokens = [
  'prompt',
  'completion',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
] as const
export type LogToken = (typeof logTokens)[number]
/** Null: the row does not say it. */
export type LoggedTokens = Readonly<Record<LogToken, number | null>>

export interface LogTerms {
  /** The path to get, with `{response.id}`; null for a file that is given. */
  readonly get: string | null
  /** Places in a row. */
  readonly cost: string | null
  readonly id: string | null
  readonly model: string | null
  readonly at: string | null
  readonly tokens: Readonly<Partial<Record<LogToken, string>>>
  /** The join key on the side of the attempt. */
  readonly join: 'response.id' | { readonly header: string }
  readonly times: Rational
  readonly withinMs: number
}

/** Whether the first requests of a day may cost nothing. `open`: some do, and the contract does not say how many. */
export const allowances = ['open', 'none'] as const
export type Allowance = (typeof allowances)[number]

export interface PriceTerms {
  readonly currency: Currency
  /** One unit of another currency in this one: `is: { USD: 500000 }`. */
  readonly is: Readonly<Record<string, Rational>>
  /** Null: the contract does not say. */
  readonly allowance: Allowance | null
  readonly models: readonly ModelPrice[]
  readonly evidence: PriceEvidence
}
