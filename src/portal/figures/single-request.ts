import type { Period } from '../../measure/usage/calendar.ts'
import { hourUs } from '../../user/durations.ts'
import { type Asked, type Input, scopeOf } from '../api/asked.ts'
import type { Source } from '../source/source.ts'
import { amountIn } from './cause.ts'
import { amountsOfRequest, filtersAsked } from './requests.ts'

/** A request that alone has most of what a day used beyond a usual one. */
export interface SingleRequest {
  readonly atUs: number
  /** Decimal text. */
  readonly amount: string
}

/** What a request is looked for in: the hours that a day is dear by. */
interface Of {
  readonly spans: readonly Pick<Period, 'fromUs' | 'toUs'>[]
  readonly unit: string
  /** What the day used beyond a usual one. */
  readonly excess: number
}

/** A share of the excess that is most of it. */
const most = 0.6

/** The request that cost most in the one hour that a day is dear by, if it is most of that. Null where requests are not shown, or only sums are known. */
export async function singleRequestOf(
  asked: Asked,
  query: Input<'summary'>,
  { requests }: Pick<Source, 'requests'>,
  { spans, unit, excess }: Of,
): Promise<SingleRequest | null> {
  const { bearer, view } = asked
  const [span, ...others] = spans
  // What one request costs is of one hour.
  const isOneHour = span !== undefined && others.length === 0 && span.toUs - span.fromUs <= hourUs
  if (!isOneHour || !bearer.shows.has('requests')) return null
  const price = view.moneyOf('1')
  const chosen = {
    ...(await filtersAsked(asked, query)),
    ...{ fromUs: span.fromUs, toUs: span.toUs, withRefunds: false },
    ...{ order: 'amount' as const, limit: 1, skip: 0 },
    priced: { unit, perCredit: price?.currency === unit ? price.value : null },
  }
  const [row] = (await requests(scopeOf(bearer), chosen, asked)) ?? []
  const amount = row === undefined ? null : amountIn(asked, amountsOfRequest(row), unit)
  return amount !== null && Number(amount) >= most * excess ? { atUs: row!.at_us, amount } : null
}
