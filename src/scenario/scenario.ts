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

/** How many tokens a synthetic prompt has, or an answer may have. */
export type TokenLengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly sd: number }
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }
  | { readonly kind: 'empirical'; readonly samples: readonly number[] }

/** What the user says. */
export type Prompt =
  | { readonly kind: 'text'; readonly text: string }
  /** A line each; a line that is a JSON object gives its `prompt`. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'synthetic'; readonly tokens: TokenLengths; readonly pool: number }
  /** The step's `prompt` function in the scenario's own module. */
  | { readonly kind: 'function' }

/** A conversation: each turn carries all that was said before, on one key. */
export interface Session {
  readonly turns: number
  readonly think: ThinkTime
}

/** Time between an answer and the next request of the same user. */
export type ThinkTime =
  | { readonly kind: 'fixed'; readonly us: number }
  | { readonly kind: 'uniform'; readonly minUs: number; readonly maxUs: number }
  | { readonly kind: 'exponential'; readonly meanUs: number }

export interface Step {
  readonly name: string
  readonly weight: number
  readonly endpoint: Endpoint
  /** For the endpoint `other`; null for the endpoint's own. */
  readonly path: string | null
  readonly method: 'GET' | 'POST' | 'OPTIONS' | 'DELETE' | 'PUT' | null
  readonly stream: boolean
  /** Asks for the token counts of a stream: `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Null where the request names none. */
  readonly model: string | null
  readonly prompt: Prompt
  readonly system: string | null
  readonly maxTokens: number | null
  readonly wrong: WrongRequest | null
  readonly abort: AbortPoint | null
  readonly session: Session | null
  /** Passed through as they are. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Names of the keys that it may use; empty for all. */
  readonly keys: readonly string[]
}

/** A piece of a rate's course: it moves in a straight line from one rate to the other. */
export interface RateSegment {
  readonly durationUs: number
  readonly fromPerS: number
  readonly toPerS: number
}

/**
 * How gaps between arrivals are drawn. `gamma` has mean 1 and coefficient of variation
 * 1/sqrt(shape): below 1 bursty, 1 is Poisson, above 1 smoother.
 */
export type Spacing =
  | { readonly kind: 'constant' }
  | { readonly kind: 'poisson' }
  | { readonly kind: 'gamma'; readonly shape: number }

/** What a rate must meet to count as held: shares and times of one sub-phase. */
export interface SweepObjective {
  /** Share of requests that must meet every objective of the scenario. */
  readonly goodput: number
}

export type Load =
  /** Open: planned up front, never waits for responses. */
  | { readonly kind: 'arrivals'; readonly spacing: Spacing; readonly rate: readonly RateSegment[] }
  /** Closed: users, each with think time; no claim about a rate. */
  | {
      readonly kind: 'concurrency'
      readonly fromUsers: number
      readonly toUsers: number
      /** Time over which users join; after it all are there. */
      readonly rampUs: number
      readonly think: ThinkTime
    }
  /** Closed, flat out, by users without think time: finds a ceiling. */
  | { readonly kind: 'saturate'; readonly connections: number }
  /** Finds the highest rate that meets the objectives. */
  | {
      readonly kind: 'sweep'
      readonly startPerS: number
      readonly maxPerS: number
      /** Length of each trial, and of the pause after a failed one. */
      readonly trialUs: number
      readonly coolDownUs: number
      /** The bracket is narrow enough at this share of the rate. */
      readonly precision: number
      readonly spacing: Spacing
      readonly objective: SweepObjective
    }
  /** A trace, request by request. */
  | {
      readonly kind: 'replay'
      readonly path: string
      readonly format: 'mooncake' | 'azure' | 'assay'
      /** 10 replays an hour in six minutes. */
      readonly speed: number
    }

export interface Phase {
  readonly name: string
  readonly part: 'warmup' | 'steady' | 'drain'
  readonly load: Load
  /** Null where the load itself says when it ends: a replay, a sweep, so many requests. */
  readonly durationUs: number | null
  /** At most so many requests; null for no bound. */
  readonly maxRequests: number | null
  /** Names of the steps that it draws from; empty for all. */
  readonly steps: readonly string[]
}

export const timeMetrics = [
  'service',
  'response',
  'ttft',
  'response_ttft',
  'tpot',
  'itl',
  'lag',
  'pool_wait',
] as const
export const shareMetrics = ['errors', 'success', 'goodput', 'not_sent'] as const
export const countMetrics = ['requests', 'tokens', 'credits'] as const

/**
 * `steady/chat.ttft.p95 < 800ms`; inconclusive without samples.
 *
 *     threshold = [phase "/"] [step "."] metric ["{" key=value, … "}"] ["." statistic] op bound
 */
export interface Threshold {
  readonly text: string
  readonly metric:
    | (typeof timeMetrics)[number]
    | (typeof shareMetrics)[number]
    | (typeof countMetrics)[number]
  readonly step: string | null
  readonly phase: string | null
  readonly statistic: Statistic
  readonly filter: Readonly<Partial<Record<FilterKey, string>>>
  readonly operator: '<' | '<=' | '>' | '>=' | '=='
  /** In microseconds for times, 0 to 1 for shares, per second for rates. */
  readonly bound: number
  /** Whether the run ends as soon as it is clearly missed. */
  readonly abort: boolean
}

export type Statistic =
  | { readonly kind: 'percentile'; readonly p: number }
  | { readonly kind: 'mean' | 'min' | 'max' | 'share' | 'rate' | 'count' }

export const filterKeys = ['code', 'status', 'outcome', 'reason', 'model', 'account'] as const
export type FilterKey = (typeof filterKeys)[number]

export type Capture = 'all' | 'sample' | 'none'

/** What a request must meet to be good; null is not asked for. */
export interface Objectives {
  readonly ttftUs: number | null
  readonly tpotUs: number | null
  readonly serviceUs: number | null
  readonly responseUs: number | null
}

/** When a run gives up by itself; null never. */
export interface StopConditions {
  /** Share of failures among all requests so far, looked at from the hundredth on. */
  readonly errorShare: number | null
  readonly consecutiveFailures: number | null
  /** How long every request may end without a connection or with a 401; null for no bound. */
  readonly refusedForUs: number | null
}

export interface Policy {
  readonly retries: 'none' | 'specification'
  readonly maxInFlight: number
  /** Connections at most, over all threads: requests wait for one; null for no bound. */
  readonly maxConnections: number | null
  /** What answers may hold while they are read, over all threads; beyond it they are given up. */
  readonly maxMemoryBytes: number
  /** Stop before this many credits are spent, counting what is in flight; null for no bound. */
  readonly maxCredits: number | null
  readonly connectTimeoutUs: number
  readonly firstByteTimeoutUs: number
  readonly idleTimeoutUs: number
  readonly totalTimeoutUs: number
  readonly stop: StopConditions
}

/** `timer`: a 1 ms timer with catch-up. `precise`: spins, and takes a core for each thread. */
export type Pacing = 'timer' | 'precise'

export interface Scenario {
  readonly name: string
  /** The question that it answers, in a sentence. */
  readonly question: string
  readonly seed: number
  readonly baseUrl: string | null
  /** Null for as many as the plan needs and the machine has. */
  readonly threads: number | null
  readonly pacing: Pacing
  /** What machines of one run share out: requests, or accounts with all of their requests. */
  readonly shards: 'by index' | 'by account'
  readonly transport: 'own' | 'undici' | 'http2'
  /** Variable that holds the URL of an HTTP proxy; null for none. */
  readonly proxyEnv: string | null
  /** PEM file of further authorities to trust. */
  readonly caFile: string | null
  /** PEM files of the client's own certificate and key: both, or neither. */
  readonly certFile: string | null
  readonly keyFile: string | null
  readonly keys: readonly KeySource[]
  readonly steps: readonly Step[]
  readonly phases: readonly Phase[]
  readonly thresholds: readonly Threshold[]
  readonly objectives: Objectives
  readonly policy: Policy
  readonly capture: Capture
  /** The module that holds its prompt functions; null for a YAML file. */
  readonly modulePath: string | null
}
