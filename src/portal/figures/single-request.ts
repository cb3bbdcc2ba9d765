import type { Period } from '../../measure/usage/calendar.ts'
import { hourUs } from '../../user/durations.ts'
import { UserError } from '../../user/user-error.ts'
import { type Asked, type Input, scopeOf } from '../api/asked.ts'
import type { Source } from '../source/source.ts'
import { amountIn } from './cause.ts'
import { mostOfExcess } from './main-cause.ts'
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

/**
 * The request that cost most in the one hour that a day is dear by, if it is most of that. Null where requests are not shown, only sums
 * are known, or the source does not answer: the page is of a copy, and goes on without it.
 */
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
  const found = await requests(scopeOf(bearer), chosen, asked).catch((error) => {
    if (error instanceof UserError) return null
    throw error
  })
  const [row] = found ?? []
  const amount = row === undefined ? null : amountIn(asked, amountsOfRequest(row), unit)
  return amount !== null && Number(amount) >= mostOfExcess * excess
    ? { atUs: row!.at_us, amount }
    : null
}
