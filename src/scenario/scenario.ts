/**
 * A checked, frozen scenario: what to send, in which mix, when, and what must hold. `parse.ts` makes it
 * from a file, and reports all issues at once with their lines.
 */

import type { AbortPoint, Endpoint, Method, WrongRequest } from '../contract/request.ts'
import type { Limit } from '../measure/limit.ts'
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

/** Numbers of tokens of synthetic prompts. */
export type TokenLengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly sd: number }
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }
  | { readonly kind: 'empirical'; readonly samples: readonly number[] }

/** The user's message. */
export type Prompt =
  | { readonly kind: 'text'; readonly text: string }
  /** One prompt on each line; a JSON object gives its `prompt` or `messages`. Or a ShareGPT file. */
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'synthetic'
      readonly tokens: TokenLengths
      /** Number of different prompts, the same in every run; null for another prompt in each request. */
      readonly pool: number | null
      readonly prefix: PromptPrefix | null
      readonly script: PromptScript
      /** Where in the text `codes` stand, as shares of it. */
      readonly between?: Between
    }
  /** A step without a prompt: a short request, another in each request. */
  | { readonly kind: 'sentence' }
  /** The step's `prompt` function in the scenario's own module. */
  | { readonly kind: 'function' }

/** From the first to the second share of a text. */
export type Between = readonly [from: number, to: number]

/** What made-up text consists of. `repeat`: one word, again and again. `codes`: words with codes of six digits in them. */
export const promptScripts = ['words', 'code', 'han', 'repeat', 'codes'] as const
export type PromptScript = (typeof promptScripts)[number]

/** Text before a synthetic prompt, which a service may keep in its prefix cache. */
export interface PromptPrefix {
  readonly tokens: number
  /** The number of different prefixes: 1 for one that all requests share; null for another in each request. */
  readonly texts: number | null
}

/** A conversation with one key: each turn includes all earlier turns. */
export interface Session {
  readonly turns: number
  readonly think: ThinkTime
}

/** Time between an answer and the next request of the same user. */
export type ThinkTime =
  | { readonly kind: 'fixed'; readonly us: number }
  | { readonly kind: 'uniform'; readonly minUs: number; readonly maxUs: number }
  | { readonly kind: 'exponential'; readonly meanUs: number }
  | { readonly kind: 'lognormal'; readonly medianUs: number; readonly sigma: number }

/** A JSON Schema: a path of a file, or as written; true for any value. */
export type JsonSchema =
  | { readonly path: string }
  | { readonly schema: true | Readonly<Record<string, unknown>> }

/** What an answer must hold; `kind` is the name that a wrong answer carries in the rows. */
export type Expectation =
  | { readonly kind: 'contains'; readonly texts: readonly string[] }
  | { readonly kind: 'matches'; readonly pattern: string }
  | { readonly kind: 'exact'; readonly text: string }
  | { readonly kind: 'tokens'; readonly least: number }
  | { readonly kind: 'json'; readonly json: JsonSchema }
  | {
      readonly kind: 'tool'
      readonly name: string
      /** Null for any. */
      readonly arguments: JsonSchema | null
    }
  /** A function: the default export of a module, or of the scenario's own module if the path is null. */
  | { readonly kind: 'check'; readonly path: string | null }

/** A number of tokens, the number that a trace recorded for each request, and whether the service is made to keep it. */
export interface OutputLength {
  readonly tokens: number | 'trace'
  readonly isEnforced: boolean
}

export interface Step {
  readonly name: string
  readonly weight: number
  readonly endpoint: Endpoint
  /** Null for the endpoint's own path. */
  readonly path: string | null
  readonly method: Method | null
  readonly stream: boolean
  /** Requests the token counts of a stream: `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Null if the request has no model. */
  readonly model: string | null
  readonly prompt: Prompt
  readonly system: string | null
  readonly maxTokens: number | null
  /** How long each answer is to be; absent for as long as the service likes, up to `maxTokens`. */
  readonly output?: OutputLength
  readonly wrong: WrongRequest | null
  readonly abort: AbortPoint | null
  readonly session: Session | null
  /** What a successful answer must hold; empty for anything. */
  readonly expect: readonly Expectation[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Names of the keys that it may use; empty for all. */
  readonly keys: readonly string[]
}

/** Whether all turns before must end, or the first one decides and the rest is aborted. */
export const joins = ['all', 'first'] as const
export type Join = (typeof joins)[number]
/** Whether a turn continues the conversation before it, or begins its own. */
export const conversations = ['same', 'new'] as const

/** A request of a task, or several of a kind. */
export interface Turn {
  readonly name: string
  readonly step: string
  /** Names of the turns that must end before it; empty for the start of the task. */
  readonly after: readonly string[]
  /** Whether all of these must end, or the first one decides and the rest is aborted. */
  readonly join: Join
  /** From the end of the last of these to the send: the time of a tool. */
  readonly delay: ThinkTime
  /** How often, one after the other. */
  readonly repeat: { readonly min: number; readonly max: number }
  /** How many such series at the same time. */
  readonly children: number
  /** Whether it continues the conversation of the first of `after`, or begins its own. */
  readonly context: (typeof conversations)[number]
  /** Names of turns whose answers it is given in its prompt. */
  readonly takes: readonly string[]
  /** Whether it offers a tool, whose calls the next request of the conversation answers. */
  readonly tools: boolean
}

/** An agent's task: requests that wait for each other, with one key. */
export interface Task {
  readonly name: string
  readonly weight: number
  readonly turns: readonly Turn[]
  /** After so long, counted from its planned start, the task is aborted; null for never. */
  readonly deadlineUs: number | null
  /** A header that stays the same within a task, or that repeats what the service sent last. */
  readonly affinity: { readonly header: string; readonly repeats: boolean } | null
  /** A conversation of more tokens is replaced by a text of `compactTokens`; null for no limit. */
  readonly context: { readonly limitTokens: number; readonly compactTokens: number } | null
  /** Text before each conversation of it; null for none. */
  readonly prefix: PromptPrefix | null
}

/** The metrics of a service that a run reads beside its load. */
export interface MetricsToScrape {
  /** URLs; `auto` for where services have them. */
  readonly from: readonly string[]
  readonly everyUs: number
  /** Whether families that answer no question of a client are kept too. */
  readonly keepsAll: boolean
}

/** A segment of a rate over time: it changes linearly from one rate to the other. */
export interface RateSegment {
  readonly durationUs: number
  readonly fromPerS: number
  readonly toPerS: number
}

export const spacings = ['constant', 'poisson', 'gamma'] as const

/**
 * The distribution of gaps between arrivals. `gamma` has mean 1 and coefficient of variation
 * 1/sqrt(shape): a shape below 1 is bursty, 1 is Poisson, above 1 is smoother.
 */
export type Spacing =
  | { readonly kind: Exclude<(typeof spacings)[number], 'gamma'> }
  | { readonly kind: 'gamma'; readonly shape: number }

export const budgetNames = ['quick', 'standard', 'thorough'] as const
export type BudgetName = (typeof budgetNames)[number]

/** What a search for the highest safe rate may spend, and what must hold. */
export interface Search {
  /** The first rate; null for the one that has one request in flight on average. */
  readonly startPerS: number | null
  readonly maxPerS: number
  /** Share of requests that must meet every objective of the scenario, below 1. */
  readonly goodput: number
  /** Absent if it sends requests. Each task must end within a time, or only succeed if it is null. */
  readonly ofTasks?: { readonly withinUs: number | null }
  /** The longest time objective: a backlog shows once requests wait for so long. */
  readonly boundUs: number
  /** Null for the largest that fits into `mostUs`. */
  readonly budget: BudgetName | null
  /** Most time of the search; null for no bound. */
  readonly mostUs: number | null
  /** Replaces the step of the budget: 0.05 is 5 %. */
  readonly precision: number | null
  /** Replaces the requests of the confirmation. */
  readonly hold: number | null
  /** Steps between the rate that held and the rate that is called safe. */
  readonly headroom: number
  /** Least length of a trial, and the pause after a failed one; null for those of the procedure. */
  readonly trialUs: number | null
  readonly coolDownUs: number | null
}

/** Formats of a trace; `columns` is any other CSV or JSON Lines, whose columns the scenario names. */
export const traceFormats = [
  'mooncake',
  'bailian',
  'azure',
  'burstgpt',
  'weka',
  'servegen',
  'assay',
  'columns',
] as const
export type TraceFormat = (typeof traceFormats)[number]

/** Units of a time in a trace. */
export const traceUnits = ['s', 'ms', 'us', 'ns'] as const
export type TraceUnit = (typeof traceUnits)[number]

/** Names of the columns of a trace that no format of ours describes. */
export interface TraceColumns {
  readonly time: string
  readonly input: string
  readonly output: string
  readonly session?: string | undefined
}

export type Load =
  /** Open: planned in advance, never waits for responses. */
  | { readonly kind: 'arrivals'; readonly spacing: Spacing; readonly rate: readonly RateSegment[] }
  /** Closed: users with think time, without a planned rate. */
  | {
      readonly kind: 'concurrency'
      readonly fromUsers: number
      readonly toUsers: number
      /** Time over which users join or leave. */
      readonly rampUs: number
      readonly think: ThinkTime
    }
  /** Closed, users without think time: finds a ceiling. */
  | { readonly kind: 'saturate'; readonly connections: number }
  /** Finds the highest rate that meets the objectives. */
  | {
      readonly kind: 'sweep'
      readonly search: Search
      readonly spacing: Spacing
    }
  /** A trace, request by request. */
  | {
      readonly kind: 'replay'
      readonly path: string
      /** Null to recognise it by its fields. */
      readonly format: TraceFormat | null
      /** Null to read it from the format and the rows. */
      readonly unit: TraceUnit | null
      /** Names of the columns of a trace in the format `columns`. */
      readonly columns: TraceColumns | null
      /** 10 replays an hour in six minutes. */
      readonly speed: number
      /**
       * Null to send each request at its recorded time. Else it waits for the answer before it, and then for the recorded
       * gap, but not longer than `capUs`.
       */
      readonly gaps: { readonly capUs: number | null } | null
      /** Users that do one session after the other, in the order of the trace; null to start each at its recorded time. */
      readonly users: number | null
    }

export const parts = ['warmup', 'steady', 'drain'] as const

export interface Phase {
  readonly name: string
  readonly part: (typeof parts)[number]
  readonly load: Load
  /** Null if the load decides its end: a replay, a sweep, a number of requests. */
  readonly durationUs: number | null
  /** Most requests; null for no bound. */
  readonly maxRequests: number | null
  /** Names of the steps that it draws from; empty for all. Of a phase of tasks, the steps of their turns. */
  readonly steps: readonly string[]
  /** Names of the tasks that it draws from; absent in a phase of requests. */
  readonly tasks?: readonly string[]
  /** How many of its first tasks begin in their middle; absent for none. */
  readonly middle?: number | 'by load'
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
