import type { UsagePage } from '../report/usage/shape.ts'
import { noticesOf } from './notices.ts'
import { creditsOf, outlookOf } from './outlook.ts'
import type { PageData } from './page.ts'
import { parametersOf } from './parameters.ts'
import { usualPeriod } from './period.ts'
import { Problem } from './problem.ts'
import * as queries from './queries.ts'
import type { Speech } from './speech.ts'

/** The parameters of the page: those of a series, of which the period may be left out. */
const known = [
  'from',
  'to',
  'timezone',
  'bucket',
  'metric',
  'by',
  'model',
  'key',
  'endpoint',
  'outcome',
]

/**
 * Reads the page from the answers of the API.
 *
 * @param search filters of the address
 * @param outlook the forecast, if it is needed
 * @throws Problem as the answers do
 */
export async function readPageData(
  asked: queries.Asked,
  search: URLSearchParams,
  speech: Speech,
  outlook: () => Promise<UsagePage | null>,
): Promise<PageData> {
  const { bearer, view, session, nowMs } = asked
  for (const name of search.keys()) {
    if (!known.includes(name)) {
      throw new Problem(400, 'unknown-parameter', 'A parameter is unknown', {
        hint: `Known: ${known.join(', ')}.`,
      })
    }
  }
  const usual = usualPeriod(view, nowMs)
  const chosen = new URLSearchParams(search)
  for (const [name, value] of Object.entries(usual)) if (!chosen.has(name)) chosen.set(name, value)
  const only = (names: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const query = new URLSearchParams([...chosen].filter(([name]) => names.includes(name)))
    for (const [name, value] of Object.entries(more)) query.set(name, value)
    return query
  }
  const asking = ['from', 'to', 'timezone', 'model', 'key', 'endpoint', 'outcome']
  const read = <Name extends 'summary' | 'series' | 'breakdown'>(
    name: Name,
    query: URLSearchParams,
  ) => parametersOf(name, query) as never
  const summary = await queries.readSummary(asked, read('summary', only(asking)))
  const hasCredits =
    bearer.shows.has('credits') &&
    summary.credits !== null &&
    (summary.credits.value ?? '0') !== '0'
  const metric = chosen.get('metric') ?? (hasCredits ? 'credits' : 'requests')
  const by = chosen.get('by') ?? (bearer.shows.has('models') ? 'model' : 'none')
  const series = await queries.readSeries(
    asked,
    read('series', only([...asking, 'bucket'], { metric, by })),
  )
  const breakdown = async (by: 'model' | 'key') =>
    bearer.shows.has(by === 'key' ? 'keys' : 'models')
      ? queries.readBreakdown(
          asked,
          read(
            'breakdown',
            only(asking, { by, limit: '20', sort: hasCredits ? 'credits' : 'requests' }),
          ),
        )
      : null
  const page = await outlook()
  const coverage = await queries.coverageOf(session)
  const canSee = bearer.shows.has('credits')
  const credits = canSee ? creditsOf(page, view, nowMs) : null
  return {
    ...{
      from: chosen.get('from')!.slice(0, 10),
      to: chosen.get('to')!.slice(0, 10),
      summary,
      series,
    },
    ...{
      metric: metric === 'credits' ? 'credits' : 'requests',
      lastUs: coverage.last,
      hasUse: coverage.first !== null,
    },
    kept: [...search].filter(([name]) => !['from', 'to', 'bucket'].includes(name)),
    ...{ models: await breakdown('model'), keys: await breakdown('key') },
    credits: credits?.source === 'none' ? null : credits,
    outlook: canSee ? outlookOf(page, view, 60, nowMs) : null,
    notices: noticesOf(page, view, bearer, speech, nowMs),
  }
}
