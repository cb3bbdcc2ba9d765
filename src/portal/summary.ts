import {
  type Asked,
  conditionOf,
  coverageOf,
  exact,
  type Input,
  periodAsked,
  us,
  within,
} from './asked.ts'
import { type Period, periodBefore, timeIn } from './period.ts'
import { type Answers, metrics } from './shapes.ts'
import { knownSql, moneyIn, moneyOf, valueSql } from './sums.ts'

export async function readAccount(asked: Asked): Promise<Answers['account']> {
  const { view, bearer, refreshedMs, session } = asked
  const { first, last, width } = await coverageOf(session)
  const time = (at: number | null) => (at === null ? null : timeIn(at, view.timezone))
  return {
    ...{ label: view.label, currency: bearer.shows.has('cost') ? view.currency : null },
    ...{ locale: view.locale, timezone: view.timezone, shows: [...bearer.shows] },
    coverage: { first: time(first), last: time(last), widthSeconds: width, gaps: [] },
    refreshedAt: timeIn(us(refreshedMs), view.timezone),
  }
}

export async function readSummary(
  asked: Asked,
  query: Input<'summary'>,
): Promise<Answers['summary']> {
  const { session, view, bearer } = asked
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const before = periodBefore(period)
  const { first } = await coverageOf(session)
  const isCovered = first !== null && first <= before.fromUs
  type Sums = Readonly<Record<string, string | null>>
  const kinds = metrics.filter((metric) => metric !== 'cost')
  const sumsOf = async (part: Period) => {
    const [row] = await session.rows<Sums>(
      `SELECT ${kinds.map((kind) => `${valueSql[kind]}::VARCHAR AS ${kind}`).join()},
         sum(requests) FILTER (WHERE outcome = 'ok')::VARCHAR AS ok, coalesce(sum(requests_unknown), 0)::VARCHAR AS hidden,
         ${Object.entries(knownSql)
           .map(([kind, column]) => `coalesce(sum(${column}), 0)::VARCHAR AS "${kind}Known"`)
           .join()}
       FROM mine WHERE ${within(part)} AND ${condition}`,
    )
    return row!
  }
  const now = await sumsOf(period)
  const then = isCovered ? await sumsOf(before) : null
  const requests = Number(now.requests ?? 0)
  const figure = (kind: (typeof kinds)[number]) => {
    const known = kind === 'requests' ? requests : Number(now[`${kind}Known`])
    const isNothing = requests === 0 && now[kind] === null && Number(now.hidden) === 0
    return {
      value: isNothing ? '0' : exact(now[kind] ?? null),
      unknownShare: requests === 0 ? 0 : Math.min(1, Math.max(0, (requests - known) / requests)),
      previous: then === null ? null : exact(then[kind] ?? null),
    }
  }
  return {
    requests: figure('requests'),
    credits: bearer.shows.has('credits') ? figure('credits') : null,
    cost: moneyOf(asked, await moneyIn(asked, `${within(period)} AND ${condition}`)),
    tokens: {
      ...{ input: figure('input'), cached: figure('cached'), cacheWrite: figure('cacheWrite') },
      ...{ output: figure('output'), reasoning: figure('reasoning') },
    },
    successShare: requests === 0 ? null : Number(now.ok ?? 0) / requests,
    refreshedAt: timeIn(us(asked.refreshedMs), view.timezone),
  }
}
