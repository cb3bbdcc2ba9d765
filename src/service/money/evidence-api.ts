import type { PriceTerms } from '../../contract/prices.ts'
import { decoded } from '../../user/decoded.ts'
import type { Call } from '../call.ts'
import type { MoneyBilling } from './money-billing.ts'
import { jsonAmount, withPlace } from './places.ts'

/** Stands for the id of a response in the contract's place of the log, in its path or its query. */
const idPlaceholder = '{response.id}'

/** Answers the reads of money that the contract's evidence names: the balance or spend, and the log. */
export class EvidenceApi {
  readonly #terms: PriceTerms
  readonly #billing: MoneyBilling

  constructor(terms: PriceTerms, billing: MoneyBilling) {
    this.#terms = terms
    this.#billing = billing
  }

  /** Whether the call reads money here. */
  isAsked({ incoming: { method, path } }: Call): boolean {
    const { balance, log } = this.#terms.evidence
    const templates = [balance?.get, log?.get].filter((template) => template != null)
    return method === 'GET' && templates.some((template) => matches(template, path))
  }

  /** The body for a call with a key that `isAsked`. */
  answer(call: Call): unknown {
    const { balance, log } = this.#terms.evidence
    const account = call.key!.accountId
    const { path, query } = call.incoming
    if (balance?.get != null && matches(balance.get, path)) {
      const place = balance.value ?? 'balance'
      return withPlace({}, place, jsonAmount(this.#shown(account, balance.moves)))
    }
    return this.#billing.log.rowsOf(account, askedId(log!.get!, path, query))
  }

  /** What is spent, of money that moves up; what is left, of money that moves down. */
  #shown(account: number, moves: 'up' | 'down'): string {
    const { book } = this.#billing
    const spent = this.#billing.shownSpend(account)
    return book.text(moves === 'up' ? spent : book.granted(account) - spent)
  }
}

function matches(template: string, path: string): boolean {
  const [place = ''] = template.split('?')
  return place.includes(idPlaceholder) ? idInPath(place, path) !== null : place === path
}

/** The id in a path such as `/generation/{response.id}`; null for another path. */
function idInPath(place: string, path: string): string | null {
  const [before = '', after = ''] = place.split(idPlaceholder)
  const end = path.length - after.length
  const isOfPlace = path.startsWith(before) && path.endsWith(after) && end > before.length
  return isOfPlace ? path.slice(before.length, end) : null
}

/** The id that a read of the log asks for; null if it asks for all rows. */
function askedId(template: string, path: string, query: string): string | null {
  const [place = '', parameters = ''] = template.split('?')
  if (place.includes(idPlaceholder)) return decoded(idInPath(place, path)!)
  const asked = [...new URLSearchParams(parameters)].find(([, value]) => value === idPlaceholder)
  return asked === undefined ? null : new URLSearchParams(query).get(asked[0])
}
