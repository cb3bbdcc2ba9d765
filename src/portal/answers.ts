import type { UsagePage } from '../report/usage/shape.ts'
import { type Asked, needs } from './asked.ts'
import { readBreakdown } from './breakdown.ts'
import { budgetsAnswer, readBudgets } from './budgets.ts'
import { noticesOf } from './notices.ts'
import type { RouteName } from './openapi.ts'
import { outlookOf, readCredits } from './outlook.ts'
import { readRequests } from './requests.ts'
import { readSeries } from './series.ts'
import type { Snapshot } from './snapshot.ts'
import type { Speech } from './speech.ts'
import { readAccount, readSummary } from './summary.ts'

/** Answers that a forecast is needed for. */
export const forecastRoutes: ReadonlySet<RouteName> = new Set(['outlook', 'notices'])

/**
 * An answer of the API as data, of one account.
 *
 * @param page the forecast, for `forecastRoutes`
 */
export async function readAnswer(
  name: Exclude<RouteName, 'live' | 'export'>,
  asked: Asked,
  query: unknown,
  page: UsagePage | null,
  snapshot: Snapshot,
  speech: Speech,
): Promise<unknown> {
  const { view, nowMs } = asked
  switch (name) {
    case 'account':
      return readAccount(asked)
    case 'summary':
      return readSummary(asked, query as never)
    case 'series':
      return readSeries(asked, query as never)
    case 'breakdown':
      return readBreakdown(asked, query as never)
    case 'requests':
      return readRequests(asked, query as never, (scope, of) => snapshot.requests(scope, of))
    case 'credits':
      return readCredits(asked, snapshot)
    case 'budgets':
      return budgetsAnswer(await readBudgets(asked))
    case 'outlook':
      needs(asked, 'credits')
      return outlookOf(page, view, (query as { days: number }).days, nowMs)
    case 'notices':
      return { notices: noticesOf(page, await readBudgets(asked), asked, speech) }
  }
}
