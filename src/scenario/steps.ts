import type { AbortPoint, Endpoint, Method, WrongRequest } from '../contract/request.ts'

/** Tokens of a made-up text at most, also of one whose length is drawn. */
export const mostTokens = 10_000_000

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
