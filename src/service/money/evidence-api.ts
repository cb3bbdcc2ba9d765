import type { PriceTerms } from '../../contract/prices.ts'
import type { Call } from '../call.ts'
import type { MoneyBilling } from './money-billing.ts'
import { jsonAmount, withPlace } from './places.ts'

const inLog = '{response.id}'

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
    const own = [balance?.get, log?.get].flatMap((each) => (each == null ? [] : [pathOf(each)]))
    return method === 'GET' && own.some((each) => isSame(each, path))
  }

  /** The body for a call with a key. */
  answer(call: Call): unknown {
    const { balance, log } = this.#terms.evidence
    const account = call.key!.accountId
    const { path, query } = call.incoming
    if (balance?.get != null && isSame(pathOf(balance.get), path)) {
      const spent = this.#billing.shownSpend(account)
      const units = balance.moves === 'up' ? spent : this.#billing.book.granted(account) - spent
      const amount = jsonAmount(this.#billing.book.text(units))
      return withPlace({}, balance.value ?? 'balance', amount)
    }
    return this.#billing.log.rowsOf(account, askedId(log!.get!, path, query))
  }
}

function pathOf(template: string): string {
  return template.split('?')[0]!
}

/** A path may hold the id: `/generation/{response.id}`. */
function isSame(template: string, path: string): boolean {
  const [before, after] = template.split(inLog)
  return after === undefined
    ? template === path
    : path.startsWith(before!) &&
        path.endsWith(after) &&
        path.length > template.length - inLog.length
}

function askedId(template: string, path: string, query: string): string | null {
  const place = pathOf(template)
  const [before, after] = place.split(inLog)
  if (after !== undefined)
    return decodeURIComponent(path.slice(before!.length, path.length - after.length))
  const wanted = [...new URLSearchParams(template.split('?')[1] ?? '')].find(
    ([, value]) => value === inLog,
  )
  return wanted === undefined ? null : new URLSearchParams(query).get(wanted[0])
}
