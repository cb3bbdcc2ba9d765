import type { Contract } from '../../contract/contract.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { type ForecastSoFar, Forecasts } from '../figures/forecasts.ts'
import { namesOfKeys } from '../figures/keys.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Bearer } from '../settings/tokens.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { type Asked, digestOf, scopeOf } from './asked.ts'
import { type KeptAnswer, KeptAnswers } from './kept-answers.ts'
import { Foreground, Turns } from './limits.ts'
import type { RouteName } from './openapi.ts'
import { Problem } from './problem.ts'

export interface AnswersOptions {
  readonly snapshot: Snapshot
  /** Bands and packages for forecasts; null for none. */
  readonly contract: Contract | null
  /** Unix milliseconds. */
  readonly now: () => number
  /** An answer that takes longer is a 503. Default: 5 seconds. */
  readonly slowMs?: number
  /** The page waits so long for its forecast, and is shown without one after that. Default: 0.3 seconds. */
  readonly forecastMs?: number
}

/** Something that is asked for an account. */
export interface UsageQuestion {
  readonly bearer: Bearer
  readonly view: AccountView
  readonly url: URL
  readonly name: RouteName | 'page'
  readonly isForecast: boolean
  /** What the settings contribute to the answer. */
  readonly settings: readonly unknown[]
  /** Aborted when the asker is gone. */
  readonly signal: AbortSignal
  readonly read: (asked: Asked, forecast: ForecastSoFar) => Promise<KeptAnswer>
}

/** The times of an answer, Unix milliseconds. */
type Moment = Pick<Asked, 'nowMs' | 'refreshedMs'>

const usualSlowMs = 5000
const usualForecastMs = 300
const longestLookMs = 60_000
const noForecast: ForecastSoFar = { page: null, isPending: false }
/**
 * Questions that are read from the sums at once; half of them may be of one account. Node has four threads for queries:
 * beside these, a list of requests, and a forecast or the copy of what is new always have one.
 */
const mostAtOnce = 2
const mostOfOne = 1

/** Answers say what is so at the start of a quarter of an hour: days, hours, grants and budgets begin and end there. */
const stepMs = 15 * 60_000
const stepOf = (ms: number) => Math.floor(ms / stepMs) * stepMs

/** Answers from the figures of one account each: few at once, kept for those who ask the same, and in time. */
export class Answering {
  private readonly options: AnswersOptions
  private readonly turns = new Turns(mostAtOnce, mostOfOne)
  private readonly turnsOfLists = new Turns(1)
  /** One of those at once may be an export of requests: no list waits for it, and no other question for two. */
  private readonly turnsOfExports = new Turns(1)
  private readonly kept = new KeptAnswers()
  private readonly foreground = new Foreground()
  private readonly forecasts: Forecasts

  /** @param changed hears of an account with a new forecast */
  constructor(options: AnswersOptions, changed: (account: string) => void) {
    this.options = options
    this.forecasts = new Forecasts(options.snapshot, options.contract, options.now, this.foreground)
    this.forecasts.onNew = changed
  }

  /** Copies what is new; no forecast begins meanwhile. @returns accounts with new usage */
  async refresh(): Promise<Iterable<string>> {
    this.forecasts.pause(true)
    try {
      return await this.options.snapshot.refresh(this.options.now())
    } finally {
      this.forecasts.pause(false)
    }
  }

  forget(): void {
    this.forecasts.forget()
    this.kept.forget()
  }

  /** @returns the tag of the answer, and how to make it */
  ask(question: UsageQuestion): { readonly tag: string; answer(): Promise<KeptAnswer> } {
    const { bearer, view, isForecast } = question
    const { now, snapshot } = this.options
    const at: Moment = {
      nowMs: stepOf(now()),
      // Figures did not change since the last copy, so they may be called younger than they are shown.
      refreshedMs: Math.max(snapshot.changedMsOf(bearer.account), stepOf(snapshot.refreshedMs!)),
    }
    if (isForecast) this.forecasts.renew(bearer, view)
    const text = this.textOf(question, at)
    return {
      tag: `"${digestOf(text).slice(0, 24)}"`,
      answer: () =>
        this.inTime(question.signal, (signal) => this.answer(question, at, text, signal)),
    }
  }

  private async answer(
    question: UsageQuestion,
    at: Moment,
    text: string,
    signal: AbortSignal,
  ): Promise<KeptAnswer> {
    const { bearer, view, isForecast } = question
    const isKnown = () => !isForecast || this.forecasts.isKnown(bearer, view)
    const wasKnown = isKnown()
    const forecast = await this.forecastFor(question)
    // With a forecast that was made meanwhile, it is the answer of those who ask next.
    const asked = wasKnown || forecast.isPending ? text : this.textOf(question, at)
    return this.kept.take(
      {
        ...{ question: asked, account: bearer.account, signal },
        isLasting: wasKnown || (!forecast.isPending && isKnown()),
      },
      (given) => this.make(question, at, forecast, given),
    )
  }

  private async forecastFor({
    bearer,
    view,
    name,
    isForecast,
  }: UsageQuestion): Promise<ForecastSoFar> {
    if (!isForecast) return noForecast
    if (name !== 'page') return { page: await this.forecasts.read(bearer, view), isPending: false }
    return this.forecasts.readSoon(bearer, view, this.options.forecastMs ?? usualForecastMs)
  }

  /** What is so now of an account, for those who do not ask over HTTP. */
  look<T>(
    bearer: Bearer,
    view: AccountView,
    read: (asked: Asked, page: UsageForecast | null) => Promise<T>,
  ): Promise<T> {
    const late = AbortSignal.timeout(longestLookMs)
    return this.forecasts.read(bearer, view).then((page) =>
      this.turns.take(bearer.account, late, () =>
        this.options.snapshot.within(
          scopeOf(bearer),
          async (session) =>
            read(
              {
                bearer,
                view,
                session,
                keys: await namesOfKeys(session, view),
                nowMs: stepOf(this.options.now()),
                refreshedMs: this.options.now(),
              },
              page,
            ),
          view,
        ),
      ),
    )
  }

  /** Everything that an answer depends on. */
  private textOf(
    { bearer, view, isForecast, url, settings }: UsageQuestion,
    { nowMs, refreshedMs }: Moment,
  ): string {
    return JSON.stringify([
      ...[bearer.account, bearer.keys, [...bearer.shows].sort(), bearer.origin],
      ...[this.options.snapshot.versionOf(bearer.account), nowMs, refreshedMs],
      view.closed.length > 0 && this.options.snapshot.closedMark,
      isForecast && this.forecasts.markOf(bearer, view),
      ...[url.pathname, [...url.searchParams].sort(), ...settings],
    ])
  }

  private make(
    { bearer, view, name, read }: UsageQuestion,
    at: Moment,
    forecast: ForecastSoFar,
    signal: AbortSignal,
  ): Promise<KeptAnswer> {
    const { snapshot } = this.options
    const { turns, turnsOfLists, turnsOfExports } = this
    const { account } = bearer
    const inTurn = (work: () => Promise<KeptAnswer>) => {
      if (name === 'requests') return turnsOfLists.take(account, signal, work)
      const one = () => turns.take(account, signal, work)
      return name === 'exportRequests' ? turnsOfExports.take(account, signal, one) : one()
    }
    return this.foreground.during(() =>
      inTurn(() =>
        snapshot.within(
          scopeOf(bearer),
          async (session) =>
            read(
              { bearer, view, keys: await namesOfKeys(session, view), session, signal, ...at },
              forecast,
            ),
          { signal, closed: view.closed, timezone: view.timezone },
        ),
      ),
    )
  }

  /** Gives up work that takes too long, so that its turn is free. */
  private async inTime<T>(
    given: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController()
    const signal = AbortSignal.any([given, late.signal])
    const ended = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => ended.reject(signal.reason))
    const timer = setTimeout(
      () =>
        late.abort(new Problem(503, 'too-slow', 'The answer took too long', { retryAfterS: 5 })),
      this.options.slowMs ?? usualSlowMs,
    )
    try {
      return await Promise.race([work(signal), ended.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
