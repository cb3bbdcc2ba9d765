import { type BalanceTerms, valuesOf } from '../../../contract/prices.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { settledReadings } from './held.ts'
import { readingsOf, withoutLimit } from './readings.ts'
import type { Recorded } from './request-charge.ts'
import type { PriceRequests } from './requests.ts'
import { stretchesOf } from './stretches.ts'

/** The same requests and pages, as if each key had a balance of its own; null if each account has one key. */
export function byKeys(found: PriceRequests): PriceRequests | null {
  const requests = [...found.requests, ...found.pages.map(({ request }) => request)]
  const keys = new Set(requests.map(ownerOf))
  if (keys.size === new Set(requests.map(({ account }) => account)).size) return null
  const owned = new Map(requests.map((each) => [each, { ...each, account: ownerOf(each) }]))
  const own = <Of extends { readonly request: PricedRequest }>(of: Of): Of => ({
    ...of,
    request: owned.get(of.request) ?? of.request,
  })
  return {
    ...found,
    requests: found.requests.map((request) => owned.get(request)!),
    pages: found.pages.map((page) => ({ ...own(page), account: ownerOf(page.request) })),
    refusals: found.refusals.map(own),
  }
}

const ownerOf = ({ account, key }: PricedRequest) => `${account}/${key}`

/** How many changes of the balance are wrong; infinitely many if an owner that paid has too few values for one. */
export function wrongChanges(
  found: Pick<PriceRequests, 'requests' | 'pages'>,
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded,
): number {
  return valuesOf(terms)
    .map((value) => {
      const readings = readingsOf(found, value)
      const free = new Set(withoutLimit(found, value).map(({ account }) => account))
      const payers = new Set(found.requests.map(({ account }) => account))
      const byOwner = Map.groupBy(readings, ({ account }) => account)
      const isShort = [...payers].some(
        (owner) => !free.has(owner) && (byOwner.get(owner)?.length ?? 0) < 2,
      )
      if (isShort) return Number.POSITIVE_INFINITY
      const of = [found.requests, value, judge, recorded] as const
      const settled = settledReadings(readings, ...of)
      const wrong = stretchesOf(settled.readings, ...of).filter(({ isRight }) => !isRight)
      // The sum over all values is wrong where one of its parts is.
      return wrong.filter(({ isWhole }) => !isWhole).length || wrong.length
    })
    .reduce((a, b) => a + b, 0)
}
