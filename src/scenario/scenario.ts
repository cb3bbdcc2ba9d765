/**
 * A checked, frozen scenario: what to send, in which mix, when, and what must hold. `parse.ts` makes it
 * from a file, and reports all issues at once with their lines.
 */

import type { Limit } from '../measure/limit.ts'
import type { Phase } from './loads.ts'
import type { Step } from './steps.ts'
import type { Task } from './tasks.ts'
import type { Threshold } from './threshold.ts'

/** The source of a key; a scenario never contains the key itself. */
export interface KeySource {
  readonly name: string
  /** An optional variable that is not set gives `none`, for a service without keys. */
  readonly source: { readonly env: string; readonly optional?: true } | { readonly file: string }
  readonly weight: number
  /** Keys of one account share its balance. Default: the name of the key. */
  readonly account: string
}

/** The metrics of a service that a run reads beside its load. */
export interface MetricsToScrape {
  /** URLs; `auto` for where services have them. */
  readonly from: readonly string[]
  readonly everyUs: number
  /** Whether families that answer no question of a client are kept too. */
  readonly keepsAll: boolean
}

/** One of two services that get the same requests. */
export interface Target {
  readonly baseUrl: string
  /** The variable with the key of this service; null for the keys of the scenario. */
  readonly keyEnv: string | null
  /** Path of the contract that it is judged by; null for that of the run. */
  readonly contract: string | null
}

export const targetNames = ['a', 'b'] as const
export type TargetName = (typeof targetNames)[number]

export const warmUps = ['auto'] as const
export const captures = ['all', 'sample', 'none'] as const
export type Capture = (typeof captures)[number]

/** Upper bounds that a request must meet to be good; null for none. */
export interface Objectives {
  readonly ttftUs: Limit | null
  readonly tpotUs: Limit | null
  readonly serviceUs: Limit | null
  readonly responseUs: Limit | null
}

/** When a reader expects the first token of a stream after the send, and each next one. */
export interface TokenDeadlines {
  readonly firstUs: number
  readonly nextUs: number
}

/** When a run stops itself; null for never. */
export interface StopConditions {
  /** Share of failures among all requests so far, from the hundredth on. */
  readonly errorShare: number | null
  readonly consecutiveFailures: number | null
  /** How long every request may end in a failed connection or a 401; null for no bound. */
  readonly refusedForUs: number | null
}

export const retryRules = ['none', 'specification'] as const

export interface RunPolicy {
  readonly retries: (typeof retryRules)[number]
  readonly maxInFlight: number
  /** Most connections over all threads; requests wait for one. Null for no bound. */
  readonly maxConnections: number | null
  /** Most memory of incomplete responses over all threads; a response that does not fit is dropped. */
  readonly maxMemoryBytes: number
  /** Most credits to spend, including requests in flight; null for no bound. */
  readonly maxCredits: number | null
  /** Most money to spend by the contract, as a decimal of its currency, requests in flight included; null for no bound. */
  readonly maxCost: string | null
  readonly connectTimeoutUs: number
  readonly firstByteTimeoutUs: number
  readonly idleTimeoutUs: number
  readonly totalTimeoutUs: number
  readonly stop: StopConditions
}

/** `timer` sleeps until a request is due. `precise` spins, and takes a core for each thread. */
export const pacings = ['timer', 'precise'] as const
export type Pacing = (typeof pacings)[number]
/** What the shards of a run split: requests, or accounts with all their requests. */
export const shardings = ['by index', 'by account'] as const
export const transports = ['own', 'undici', 'http2'] as const

export interface Scenario {
  readonly name: string
  /** The question that it answers, in a sentence. */
  readonly question: string
  readonly seed: number
  readonly baseUrl: string | null
  /** Two services that get each request, in random order; absent for one service. */
  readonly targets?: Readonly<Record<TargetName, Target>>
  /** Which of two targets a run is of, and the name that both runs share; absent for one service. */
  readonly target?: { readonly name: TargetName; readonly pair: string }
  /** Which of several runs of one scenario this is, and the name that they share; absent for a single run. */
  readonly repeat?: { readonly name: string; readonly number: number; readonly of: number }
  /** Null for as many as the plan needs and the machine has. */
  readonly threads: number | null
  readonly pacing: Pacing
  readonly shards: (typeof shardings)[number]
  readonly transport: (typeof transports)[number]
  /** Name of the variable with the URL of an HTTP proxy; null for none. */
  readonly proxyEnv: string | null
  /** Where the service exposes its own metrics; null for not to look. */
  readonly metrics: MetricsToScrape | null
  /** PEM file of further authorities to trust. */
  readonly caFile: string | null
  /** PEM files of the client's own certificate and key: both, or neither. */
  readonly certFile: string | null
  readonly keyFile: string | null
  readonly keys: readonly KeySource[]
  /** Own dimensions of usage by name, each with the header that has its value; absent for none. */
  readonly tags?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
  readonly tasks: readonly Task[]
  readonly phases: readonly Phase[]
  readonly thresholds: readonly Threshold[]
  readonly objectives: Objectives
  /** Absent without deadlines. */
  readonly tokenDeadlines?: TokenDeadlines
  readonly policy: RunPolicy
  readonly capture: Capture
  /** `auto`: what a run planned before its times are steady is no part of its figures. Absent: it is. */
  readonly warmUp?: (typeof warmUps)[number]
  /** The module with its prompt functions; null for a YAML file. */
  readonly modulePath: string | null
}
