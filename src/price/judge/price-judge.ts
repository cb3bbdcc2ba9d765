import type { LoggedTokens, ModelPrice } from '../../contract/prices.ts'
import type { Currency } from '../../money/money.ts'
import type { Usage } from '../../tokens/usage.ts'
import type { PricedRequest } from './request.ts'

/** Looks up the price of a model by any of its names. */
export type PriceOf = (name: string) => ModelPrice | null

/** Choices of factors that the audit was told: `{ group: 'vip' }`. */
export type Choices = Readonly<Record<string, string>>

/** The tokens in the service's own log; null if it has none for the request. */
export type LoggedOf = (request: PricedRequest) => LoggedTokens | null

/** What a judgement of prices takes beside the requests. */
export interface PriceJudge {
  readonly currency: Currency
  readonly priceOf: PriceOf
  readonly choices: Choices
  /** How far the clocks of client and service may be apart. */
  readonly clockErrorMs: number
  /** The usage of a complete answer to an equal request. */
  readonly twinOf: (request: PricedRequest) => Usage | null
  /** The tokens that the service's own log has for a request; absent without a log. */
  readonly loggedOf?: LoggedOf
}
