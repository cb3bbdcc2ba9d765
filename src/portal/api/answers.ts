import { periodAround } from '../../measure/usage/calendar.ts'
import { type UsageForecast, unitHeld } from '../../report/usage/shape.ts'
import { readBreakdown } from '../figures/breakdown.ts'
import { budgetsAnswer, readBudgets } from '../figures/budgets.ts'
import { noticesOf } from '../figures/notices.ts'
import { outlookOf, readCredits } from '../figures/outlook.ts'
import { readRequests } from '../figures/requests.ts'
import { readSeries } from '../figures/series.ts'
import { readAccount, readSummary } from '../figures/summary.ts'
import type { Speech } from '../page/speech.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { type Asked, needs, shownFor } from './asked.ts'
import type { RouteName } from './openapi.ts'

/** Answers that a forecast is needed for. */
export const forecastRoutes: ReadonlySet<RouteName> = new Set(['budgets', 'outlook', 'notices'])

/**
 * An answer of the API as data, of one account.
 *
 * @param page the forecast, for `forecastRoutes`
 */
export async function readAnswer(
  name: Exclude<RouteName, 'live' | 'export' | 'exportRequests' | 'alerts'>,
  asked: Asked,
  query: unknown,
  page: UsageForecast | null,
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
      return readRequests(asked, query as never, snapshot.source)
    case 'credits':
      return readCredits(asked, snapshot)
    case 'budgets':
      return budgetsAnswer(await readBudgets(asked, page))
    case 'outlook':
      needs(asked, shownFor(page === null ? 'credits' : unitHeld(page)))
      return outlookOf(page, view, (query as { days: number }).days, nowMs)
    case 'notices': {
      const month = periodAround(nowMs * 1000, view.timezone, 'month', view.firstWeekday)
      const budgets = await readBudgets(asked, page)
      return { notices: await noticesOf(page, budgets, asked, speech, month) }
    }
  }
}
