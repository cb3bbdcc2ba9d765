import type { Contract } from '../contract/contract.ts'
import type { AccountView } from './account-view.ts'
import { type Asked, digestOf, scopeOf } from './asked.ts'
import { type ForecastSoFar, Forecasts } from './forecasts.ts'
import { type KeptAnswer, KeptAnswers } from './kept-answers.ts'
import { Turns } from './limits.ts'
import type { RouteName } from './openapi.ts'
import { Problem } from './problem.ts'
import type { Snapshot } from './snapshot.ts'
import type { Bearer } from './tokens.ts'

export interface AnswersOptions {
  readonly snapshot: Snapshot
  /** Bands and packages for forecasts; null for none. */
  readonly contract: Contract | null
  /** Unix milliseconds. */
  readonly now: () => number
  /** An answer that takes longer is a 503. Default: 5 seconds. */
  readonly slowMs?: number
  /** The page waits so long for its forecast, and is shown without one after that. Default: 1 second. */
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
  readonly read: (asked: Asked, forecast: ForecastSoFar) => Promise<KeptAnswer>
}

const usualSlowMs = 5000
const usualForecastMs = 1000
const noForecast: ForecastSoFar = { page: null, isPending: false }
/**
 * Questions that are read from the sums at once. Node has four threads for queries: beside these, a forecast and a list
 * of requests, the copy of what is new always has one.
 */
const mostAtOnce = 2
const mostWhileCopying = 1

/** Answers from the figures of one account each: few at once, kept for those who ask the same, and in time. */
export class Answering {
  private readonly options: AnswersOptions
  private readonly turns = new Turns(mostAtOnce)
  private readonly turnsOfStore = new Turns(1)
  private readonly kept = new KeptAnswers()
  private readonly forecasts: Forecasts

  /** @param changed hears of an account with a new forecast */
  constructor(options: AnswersOptions, changed: (account: string) => void) {
    this.options = options
    this.forecasts = new Forecasts(options.snapshot, options.contract, options.now)
    this.forecasts.onNew = changed
  }

  /** Copies what is new, while fewer are answered. @returns accounts with new usage */
  async refresh(): Promise<Iterable<string>> {
    this.turns.allow(mostWhileCopying)
    try {
      return await this.options.snapshot.refresh(this.options.now())
    } finally {
      this.turns.allow(mostAtOnce)
    }
  }

  /** Forgets forecasts and answers. */
  forget(): void {
    this.forecasts.forget()
    this.kept.forget()
  }

  /** @returns the tag of the answer, and how to make it */
  ask(question: UsageQuestion): { readonly tag: string; answer(): Promise<KeptAnswer> } {
    const text = this.textOf(question)
    return {
      tag: `"${digestOf(text).slice(0, 24)}"`,
      answer: () =>
        this.inTime(this.kept.take(text, this.options.now(), () => this.make(question))),
    }
  }

  /** Everything that an answer depends on. */
  private textOf({ bearer, view, isForecast, url, settings }: UsageQuestion): string {
    return JSON.stringify([
      ...[bearer.account, bearer.keys, [...bearer.shows].sort(), bearer.origin],
      this.options.snapshot.versionOf(bearer.account),
      isForecast && this.forecasts.markOf(bearer, view),
      ...[url.pathname, [...url.searchParams].map((pair) => pair.join('=')).sort(), ...settings],
    ])
  }

  private async make({ bearer, view, name, isForecast, read }: UsageQuestion): Promise<KeptAnswer> {
    const { snapshot, now, forecastMs = usualForecastMs } = this.options
    const forecast = !isForecast
      ? noForecast
      : name === 'page'
        ? await this.forecasts.readSoon(bearer, view, forecastMs)
        : { page: await this.forecasts.read(bearer, view), isPending: false }
    // A list of requests waits for those who write the store; nobody else waits for it.
    const turns = name === 'requests' ? this.turnsOfStore : this.turns
    return turns.take(() =>
      snapshot.within(scopeOf(bearer), (session) => {
        const refreshedMs = snapshot.refreshedMs!
        return read({ bearer, view, session, nowMs: now(), refreshedMs }, forecast)
      }),
    )
  }

  private async inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const slow = new Promise<never>((_, refuse) => {
      timer = setTimeout(
        () => refuse(new Problem(503, 'too-slow', 'The answer took too long', { retryAfterS: 5 })),
        this.options.slowMs ?? usualSlowMs,
      )
    })
    try {
      return await Promise.race([work, slow])
    } finally {
      clearTimeout(timer)
    }
  }
}
