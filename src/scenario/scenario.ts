/**
 * A checked, frozen scenario: what to send, in which mix, when, and what must hold.
 * Files become this in `parse.ts`, where every fault is reported at once with its line.
 */

import type { AbortPoint, Endpoint, WrongRequest } from '../contract/request.ts'

/** Where a key comes from; the key itself never stands in a scenario. */
export interface KeySource {
  readonly name: string
  readonly source: { readonly env: string } | { readonly file: string }
  readonly weight: number
  /** Keys of one account share its balance; its own name unless given. */
  readonly account: string
}

export interface Step {
  readonly name: string
  readonly weight: number
  readonly endpoint: Endpoint
  readonly stream: boolean
  /** Null where the request names none. */
  readonly model: string | null
  readonly prompt: string
  readonly system: string | null
  readonly maxTokens: number | null
  readonly wrong: WrongRequest | null
  readonly abort: AbortPoint | null
  /** Passed through as they are. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Names of the keys that it may use; empty for all. */
  readonly keys: readonly string[]
}

/** How requests arrive. Arrivals are open: planned up front, they never wait for responses. */
export type Load =
  | { readonly kind: 'constant'; readonly ratePerS: number }
  | { readonly kind: 'poisson'; readonly ratePerS: number }
  /** Closed: N users, each with think time; no claim about a rate. */
  | { readonly kind: 'concurrency'; readonly users: number; readonly thinkUs: number }

export interface Phase {
  readonly name: string
  readonly part: 'warmup' | 'steady' | 'drain'
  readonly load: Load
  readonly durationUs: number
  /** At most so many requests; null for no bound. */
  readonly maxRequests: number | null
  /** Names of the steps that it draws from; empty for all. */
  readonly steps: readonly string[]
}

/** `chat.ttft.p95 < 800ms`; inconclusive without samples. */
export interface Threshold {
  readonly text: string
  readonly metric: string
  readonly step: string | null
  readonly phase: string | null
  /** `p95`, `mean`, `max`, `rate`, `count`. */
  readonly statistic: string
  readonly filter: Readonly<Record<string, string>>
  readonly operator: '<' | '<=' | '>' | '>=' | '=='
  /** In microseconds for times, 0 to 1 for shares. */
  readonly bound: number
}

export type Capture = 'all' | 'sample' | 'none'

export interface Policy {
  readonly retries: 'none' | 'specification'
  readonly maxInFlight: number
  /** Stop before this many credits are spent, counting what is in flight; null for no bound. */
  readonly maxCredits: number | null
  readonly connectTimeoutUs: number
  readonly firstByteTimeoutUs: number
  readonly idleTimeoutUs: number
  readonly totalTimeoutUs: number
}

export interface Scenario {
  readonly name: string
  /** The question that it answers, in a sentence. */
  readonly question: string
  readonly seed: number
  readonly baseUrl: string | null
  readonly threads: number
  readonly keys: readonly KeySource[]
  readonly steps: readonly Step[]
  readonly phases: readonly Phase[]
  readonly thresholds: readonly Threshold[]
  readonly policy: Policy
  readonly capture: Capture
}
