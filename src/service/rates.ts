import { type Window, windows, windowUs } from '../contract/contract.ts'
import type { RateLook } from './call.ts'
import type { Limiter } from './limiter/counter.ts'
import { type Algorithm, createLimiter } from './limiter/limiter.ts'
import type { Profile } from './profile.ts'

type Limits = Readonly<Record<Window, number>>

interface Counters {
  limiters: Readonly<Record<Window, Limiter>>
  /** Those of the band by which the counts were last looked at or changed. Other limits are another band. */
  limits: Limits
  /** When the last request was counted. */
  countedUs: number
}

/** The counters of every key: three windows each, made on first use. */
export class RateTable {
  readonly #algorithm: Algorithm
  readonly #bandChange: Profile['bandChange']
  readonly #counters = new Map<string, Counters>()

  constructor(algorithm: Algorithm, bandChange: Profile['bandChange']) {
    this.#algorithm = algorithm
    this.#bandChange = bandChange
  }

  look(subject: string, limits: Limits, nowUs: number): RateLook {
    const counters = this.#of(subject, limits)
    const { limiters } = counters
    // A look is also read after its request is counted, so its time must not be before the count.
    const asOfUs = () => Math.max(nowUs, counters.countedUs)
    const refusedBy = limiters.minute.admits(nowUs, limits.minute)
      ? limiters.hour.admits(nowUs, limits.hour)
        ? limiters.day.admits(nowUs, limits.day)
          ? null
          : 'day'
        : 'hour'
      : 'minute'
    return {
      refusedBy,
      window: (window) => ({
        limit: limits[window],
        remaining: limiters[window].remaining(asOfUs(), limits[window]),
        resetUs: limiters[window].resetUs(asOfUs(), limits[window]),
      }),
    }
  }

  count(subject: string, limits: Limits, nowUs: number): void {
    const counters = this.#of(subject, limits)
    const { limiters } = counters
    counters.countedUs = nowUs
    for (const window of windows) limiters[window].count(nowUs, limits[window])
  }

  /** Lets a subject without counts start from the counts of another. */
  inherit(subject: string, from: string): void {
    const last = this.#counters.get(from)
    if (last === undefined || this.#counters.has(subject)) return
    this.#counters.set(subject, { ...last, limiters: scaled(last.limiters, () => 1) })
  }

  forget(subject: string): void {
    this.#counters.delete(subject)
  }

  #of(subject: string, limits: Limits): Counters {
    let counters = this.#counters.get(subject)
    if (counters === undefined) {
      counters = { limiters: this.#fresh(), limits, countedUs: 0 }
      this.#counters.set(subject, counters)
    } else if (windows.some((window) => counters!.limits[window] !== limits[window])) {
      counters.limiters = this.#changed(counters, limits)
      counters.limits = limits
    }
    return counters
  }

  #changed({ limiters, limits: before }: Counters, limits: Limits): Counters['limiters'] {
    switch (this.#bandChange) {
      case 'kept':
        return limiters
      case 'reset':
        return this.#fresh()
      case 'scaled':
        return scaled(limiters, (window) => limits[window] / before[window])
    }
  }

  #fresh(): Readonly<Record<Window, Limiter>> {
    // GCRA would space requests out over an hour or a day, and the requests of one minute would
    // never pass. In these windows it allows the burst of a whole window: a token bucket.
    const long = this.#algorithm === 'gcra' ? 'token-bucket' : this.#algorithm
    return {
      minute: createLimiter(this.#algorithm, windowUs.minute),
      hour: createLimiter(long, windowUs.hour),
      day: createLimiter(long, windowUs.day),
    }
  }
}

/** The same counts, each times the factor of its window. */
const scaled = (
  { minute, hour, day }: Counters['limiters'],
  factor: (window: Window) => number,
): Counters['limiters'] => ({
  minute: minute.scaled(factor('minute')),
  hour: hour.scaled(factor('hour')),
  day: day.scaled(factor('day')),
})
