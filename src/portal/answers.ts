import type { Contract } from '../contract/contract.ts'
import type { UsagePage } from '../report/usage/shape.ts'
import type { AccountView } from './account-view.ts'
import { type Asked, needs, scopeOf } from './asked.ts'
import { readBreakdown } from './breakdown.ts'
import { noticesOf } from './notices.ts'
import type { RouteName } from './openapi.ts'
import { creditsOf, outlookOf, pageOf } from './outlook.ts'
import { readRequests } from './requests.ts'
import { readSeries } from './series.ts'
import type { Settings } from './settings.ts'
import type { Snapshot } from './snapshot.ts'
import { type Speech, speechOf } from './speech.ts'
import { readAccount, readSummary } from './summary.ts'
import type { Bearer } from './tokens.ts'
import { wordsFor } from './words.ts'

export interface AnswersOptions {
  readonly snapshot: Snapshot
  readonly settings: () => Settings
  /** Bands and packages for forecasts; null for none. */
  readonly contract: Contract | null
  /** Unix milliseconds. */
  readonly now: () => number
}

const keptPages = 200

/** The answers of the API as data, each of one account. */
export class Answerer {
  private readonly options: AnswersOptions
  private readonly pages = new Map<string, Promise<UsagePage | null>>()

  constructor(options: AnswersOptions) {
    this.options = options
  }

  async read(
    name: Exclude<RouteName, 'live' | 'export'>,
    asked: Asked,
    query: unknown,
  ): Promise<unknown> {
    const { bearer, view, nowMs } = asked
    const page = () => this.forecast(bearer, view)
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
        return readRequests(asked, query as never, (scope, of) =>
          this.options.snapshot.requests(scope, of),
        )
      case 'credits':
        needs(asked, 'credits')
        return creditsOf(await page(), view, nowMs)
      case 'outlook':
        needs(asked, 'credits')
        return outlookOf(await page(), view, (query as { days: number }).days, nowMs)
      case 'notices':
        return { notices: noticesOf(await page(), view, bearer, this.speech(view), nowMs) }
    }
  }

  speech(view: AccountView): Speech {
    return speechOf(wordsFor(view.locale, this.options.settings()), view)
  }

  /** Forecasts take long, so one is kept for each account and its version. */
  forecast(bearer: Bearer, view: AccountView): Promise<UsagePage | null> {
    const { snapshot, contract, now } = this.options
    const hour = Math.floor(now() / 3_600_000)
    const key = JSON.stringify([
      ...[bearer.account, bearer.keys, snapshot.versionOf(bearer.account), hour],
      ...[view.timezone, view.grants],
    ])
    let page = this.pages.get(key)
    if (page === undefined) {
      page = pageOf(snapshot, scopeOf(bearer), view, contract, now())
      this.pages.set(key, page)
      if (this.pages.size > keptPages) this.pages.delete(this.pages.keys().next().value!)
    }
    return page
  }

  /** Forgets the forecasts. */
  forget(): void {
    this.pages.clear()
  }
}
