import {
  type LoggedTokens,
  type ModelPrice,
  type PriceTerms,
  valuesOf,
} from '../../contract/prices.ts'
import type { Currency } from '../../money/money.ts'
import { isEqual, one, type Rational } from '../../money/rational.ts'
import type { Usage } from '../../tokens/usage.ts'
import type { PricedRequest } from './request.ts'

/** Looks up the price of a model by any of its names. */
export type PriceOf = (name: string) => ModelPrice | null

/** Choices of factors that the audit was told: `{ group: 'vip' }`. */
export type Choices = Readonly<Record<string, string>>

/** The tokens in the service's own log; null if it has none for the request. */
export type LoggedOf = (request: PricedRequest) => LoggedTokens | null

/** Names with which answers of a model choose its price. Where an answer was not read, it may have had any of them. */
export interface SeenNames {
  /** Fields of the usage: `speed`. */
  readonly fields: readonly string[]
  readonly tiers: readonly string[]
}

/** What a judgement of prices takes beside the requests. */
export interface PriceJudge {
  readonly currency: Currency
  readonly priceOf: PriceOf
  readonly choices: Choices
  /** How far the clocks of client and service may be apart. */
  readonly clockErrorMs: number
  /** The usage of a complete answer to an equal request. */
  readonly twinOf: (request: PricedRequest) => Usage | null
  /** Bytes of the text of that answer; absent or null if it was not stored. */
  readonly twinBytesOf?: (request: PricedRequest) => number | null
  /** The tokens that the service's own log has for a request; absent without a log. */
  readonly loggedOf?: LoggedOf
  /** What answers of a model name; absent: nothing but what the contract prices. */
  readonly namesOf?: (model: ModelPrice) => SeenNames
  /** Currencies in which the service may have rounded what it took. */
  readonly others?: readonly OtherCurrency[]
  /** All models of the contract, also those that no request asked for; absent: those of the requests. */
  readonly models?: readonly ModelPrice[]
  /** What other answers say of those that the client left; absent: nothing. */
  readonly likely?: LikelyLeft
  /** Whether what nobody but the service counts of an answer that was left is taken to be no more than `likely` says (`unseen.ts`). */
  readonly isStrict?: boolean
}

/** What the other answers of a run say of one that the client left. */
export interface LikelyLeft {
  /** Whether the model thinks before its text, and does not show all of it, where it is asked to think as this request asks. */
  readonly hidesThoughts: (model: ModelPrice, request: PricedRequest) => boolean
  /** The most tokens of a prompt, by those that other requests to the model have for a byte; null if none says. */
  readonly mostPrompt: (request: PricedRequest) => number | null
}

/** What a judgement knows that may explain a wrong cost. */
export type KnownCauses = Pick<PriceJudge, 'priceOf' | 'loggedOf' | 'others' | 'models'>

/** Another currency than that of the contract. */
export interface OtherCurrency {
  readonly name: string
  /** One unit of it in the contract's currency. */
  readonly rate: Rational
  /** Whether the contract converts it; else it is a unit in which amounts are shown. */
  readonly isNamed?: boolean
}

/** The currencies of a contract, and those of the places where the service shows money. */
export function otherCurrencies({ is, evidence, currency }: PriceTerms): readonly OtherCurrency[] {
  const { cost, balance, log } = evidence
  const named = Object.entries(is).map(([name, rate]) => ({ name, rate }))
  const ofPlaces = [...cost, ...(balance === null ? [] : valuesOf(balance)), log]
    .flatMap((place) => (place === null ? [] : [place.times]))
    .filter(
      (times, at, all) =>
        !isEqual(times, one) &&
        all.findIndex((each) => isEqual(each, times)) === at &&
        !named.some(({ rate }) => isEqual(rate, times)),
    )
  return [
    ...named
      .filter(({ name }) => name !== currency.name)
      .map((other) => ({ ...other, isNamed: true })),
    ...ofPlaces.map((rate) => ({ name: 'the unit that is shown', rate })),
  ]
}
