import type { Ask } from './asks.ts'
import type { Twist } from './cost.ts'
import type { Need, Terms } from './terms.ts'

export type Place = 'answer' | 'log' | 'balance'

/** What a fault does beside, or instead of, another amount. */
export type Deed =
  | 'row twice'
  | 'row missing'
  | 'other tokens in the row'
  | 'other time in the row'
  | 'other model in the row'
  | 'posted twice'
  | 'not posted'
  | 'posted to another account'
  | 'given back'
  | 'given back twice'
  | 'grant taken'
  | 'posted in one value'

export type Family = string

/** A fault of a service, with the words that a finding must have to name its cause. */
export interface Fault {
  readonly name: string
  readonly family: Family
  readonly needs: readonly Need[]
  readonly places: readonly Place[]
  readonly twist?: Twist
  readonly deed?: Deed
  /** Which requests can show it. */
  readonly strikes: (ask: Ask, terms: Terms) => boolean
  readonly cause: RegExp
  /** The prices that may be blamed, as findings of their own. */
  readonly about: readonly string[]
}

export const everywhere: readonly Place[] = ['answer', 'log', 'balance']
export const books: readonly Place[] = ['log', 'balance']
export const isOk = ({ ended }: Ask) => ended === 'ok'
