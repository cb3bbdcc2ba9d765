import { timeIn } from '../../measure/usage/calendar.ts'
import { endOf, endsOf } from '../../measure/usage/ends.ts'
import type { RequestQuery } from '../../report/usage/engine/clickhouse.ts'
import type { AccountScope } from '../../store/session/account.ts'
import { eachToken } from '../../tokens/kinds.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import {
  type Asked,
  exact,
  type Input,
  namesAsked,
  needs,
  periodAsked,
  scopeOf,
  tagsShown,
} from '../api/asked.ts'
import { cursorAt, skipOf } from '../api/cursor.ts'
import { Problem } from '../api/problem.ts'
import type { Answers } from '../api/shapes.ts'
import type { RequestRow } from '../source/source.ts'
import { moneyOf } from './sums.ts'

const longestUs = 31 * dayUs + hourUs

export async function readRequests(
  asked: Asked,
  query: Input<'requests'>,
  read: (scope: AccountScope, query: RequestQuery) => Promise<readonly RequestRow[] | null>,
): Promise<Answers['requests']> {
  const { bearer, view } = asked
  needs(asked, 'requests')
  const period = periodAsked(query, view)
  if (period.toUs - period.fromUs > longestUs) {
    throw new Problem(400, 'bad-period', 'A list of requests is of at most 31 days')
  }
  const names = await namesAsked(asked, query)
  const skip = skipOf(query.cursor)
  const rows = await read(scopeOf(bearer), {
    fromUs: period.fromUs,
    toUs: period.toUs,
    limit: query.limit + 1,
    skip,
    models: names.model,
    keys: names.key,
    tags: names.tags,
    endpoints: names.endpoint,
    outcomes: query.outcome.flatMap(endsOf),
  })
  if (rows === null) {
    throw new Problem(404, 'no-requests', 'Only sums are known, no single requests')
  }
  const shown = bearer.shows
  const tags = tagsShown(asked)
  return {
    requests: rows.slice(0, query.limit).map((row) => ({
      at: timeIn(row.at_us, period.timezone),
      model: shown.has('models') ? row.model : null,
      key: shown.has('keys') && row.key_fp !== null ? asked.keys.nameOf(row.key_fp) : null,
      endpoint: row.endpoint,
      tags: tagsOf(row.tags, tags),
      outcome: endOf(row),
      ...eachToken((name) => row[name]),
      credits: shown.has('credits') && row.unit === 'credits' ? exact(row.credits) : null,
      cost: moneyOf(asked, {
        amounts:
          row.credits === null
            ? null
            : [
                {
                  unit: row.unit,
                  used: row.credits,
                  refunds: null,
                  alone: row.credits,
                  computed: null,
                },
              ],
      }),
      durationMs: row.latency_us === null ? null : row.latency_us / 1000,
    })),
    next: rows.length > query.limit ? cursorAt(skip + query.limit) : null,
  }
}

/** The tags of a request that the token shows. */
function tagsOf(text: string | null, names: readonly string[]) {
  if (text === null || names.length === 0) return []
  const values = new Map(Object.entries(JSON.parse(text) as object))
  return names.flatMap((name) => {
    const value: unknown = values.get(name)
    return typeof value === 'string' ? [{ name, value }] : []
  })
}
