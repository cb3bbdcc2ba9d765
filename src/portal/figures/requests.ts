import { timeIn } from '../../measure/usage/calendar.ts'
import { endOf, endsOf } from '../../measure/usage/ends.ts'
import type { Sums } from '../../measure/usage/sums.ts'
import type { RequestOrder, RequestQuery } from '../../report/usage/engine/request-query.ts'
import { eachToken } from '../../tokens/kinds.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import {
  type Asked,
  exact,
  type Input,
  isShown,
  namesAsked,
  needs,
  needsEach,
  periodAsked,
  scopeOf,
  tagsShown,
} from '../api/asked.ts'
import { cursorAt, skipOf } from '../api/cursor.ts'
import { Problem } from '../api/problem.ts'
import type { Answers } from '../api/shapes.ts'
import type { RequestRow, Source } from '../source/source.ts'
import { requestId } from './request-id.ts'
import { moneyOf, unitOf } from './sums.ts'

const longestUs = 31 * dayUs + hourUs

const orders: Readonly<Record<Input<'requests'>['sort'], RequestOrder>> = {
  time: 'newest',
  credits: 'amount',
  cost: 'amount',
  tokens: 'tokens',
  duration: 'duration',
}

/** The filters of a question as sources take them. @throws Problem as `namesAsked` does */
export async function filtersAsked(
  asked: Asked,
  query: Parameters<typeof namesAsked>[1] & Pick<Input<'requests'>, 'outcome'>,
): Promise<Pick<RequestQuery, 'models' | 'keys' | 'tags' | 'endpoints' | 'outcomes'>> {
  const { model, key, tags, endpoint } = await namesAsked(asked, query)
  const outcomes = query.outcome.flatMap(endsOf)
  return { models: model, keys: key, tags, endpoints: endpoint, outcomes }
}

/** Only sums are known. */
export const noRequests = () =>
  new Problem(404, 'no-requests', 'Only sums are known, no single requests')

export async function readRequests(
  asked: Asked,
  query: Input<'requests'>,
  source: Pick<Source, 'requests' | 'timed'>,
): Promise<Answers['requests']> {
  const { bearer, view } = asked
  needs(asked, 'requests')
  if (query.sort === 'duration' && !source.timed)
    throw new Problem(400, 'bad-parameter', 'Durations are not known here', {
      hint: `sort may be ${Object.keys(orders)
        .filter((name) => name !== 'duration' && isShown(asked, name))
        .join(', ')}.`,
    })
  const period = periodAsked(query, view)
  if (period.toUs - period.fromUs > longestUs) {
    throw new Problem(400, 'bad-period', 'A list of requests is of at most 31 days')
  }
  const { sort, limit } = query
  needsEach(asked, [sort])
  const { unit } =
    sort === 'credits' || sort === 'cost'
      ? await unitOf(asked, sort, period, query.unit)
      : { unit: null }
  const price = view.moneyOf('1')
  const skip = skipOf(query.cursor)
  const chosen = {
    ...(await filtersAsked(asked, query)),
    fromUs: period.fromUs,
    toUs: period.toUs,
    withRefunds: false,
    order: orders[sort],
    priced: {
      unit: unit ?? '',
      perCredit: sort === 'cost' && price?.currency === unit ? price!.value : null,
    },
    limit: limit + 1,
    skip,
  }
  const rows = await source.requests(scopeOf(bearer), chosen, asked)
  if (rows === null) throw noRequests()
  const shown = bearer.shows
  const tags = tagsShown(asked)
  return {
    requests: rows.slice(0, limit).map((row) => ({
      id: requestId(row),
      at: timeIn(row.at_us, period.timezone),
      model: shown.has('models') ? row.model : null,
      key: shown.has('keys') && row.key_fp !== null ? asked.keys.nameOf(row.key_fp) : null,
      endpoint: row.endpoint,
      tags: tagsOf(row.tags, tags),
      outcome: endOf(row),
      status: row.status,
      ...eachToken((name) => row[name]),
      credits: shown.has('credits') && row.unit === 'credits' ? exact(row.credits) : null,
      cost: moneyOf(asked, amountsOfRequest(row)),
      durationMs: row.latency_us === null ? null : row.latency_us / 1000,
    })),
    next: rows.length > limit ? cursorAt(skip + limit) : null,
  }
}

/** What a request cost, as sums have it; null where that is not known. */
export const amountsOfRequest = ({
  unit,
  credits,
}: Pick<RequestRow, 'unit' | 'credits'>): Pick<Sums, 'amounts'> => ({
  amounts:
    credits === null
      ? null
      : [{ unit, used: credits, refunds: null, alone: credits, computed: null }],
})

/** The tags of a request that the token shows. */
function tagsOf(text: string | null, names: readonly string[]) {
  if (text === null || names.length === 0) return []
  const values = new Map(Object.entries(JSON.parse(text) as object))
  return names.flatMap((name) => {
    const value: unknown = values.get(name)
    return typeof value === 'string' ? [{ name, value }] : []
  })
}
