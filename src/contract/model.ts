import type { Credits } from './credits.ts'

export interface Model {
  readonly id: string
  /** Other names by which requests may ask for it, and responses may name it. */
  readonly aliases?: readonly string[]
  /** Versions of it, named like aliases. `dated`: responses may name the id and a date, as `gpt-4o-2024-08-06`. */
  readonly snapshots?: readonly string[] | 'dated'
  /** Most tokens of input and output together. */
  readonly contextWindowTokens?: number
  /** Price of one successful request. */
  readonly costCredits?: Credits
  /** Whether `GET /v1/models` shows it (svc-k2.5 is usable, but not in the listing: gap G-02). */
  readonly listed: boolean
  readonly reasoning: boolean
  /** What counts the tokens of a text as the service does. */
  readonly tokenizer?: Tokenizer
  /** Most tokens that the service adds to one user message. */
  readonly templateTokens?: number
  readonly cache?: CachePromise
  readonly tools?: ToolPromise
  /** Service tiers that are sold. */
  readonly servedTiers?: readonly ServedTier[]
  /** Most tokens of hidden reasoning of one answer. */
  readonly maxReasoningTokens?: number
  /** Whether the model behind the name stays the same: always, or from a UTC day on (`2026-03-14`). */
  readonly fixed?: true | string
  /** Where the same model is sold by its maker, for comparison. */
  readonly reference?: ReferenceEndpoint
}

/** Another service with the same model. Its key is that of the runs against it, never a part of a contract. */
export interface ReferenceEndpoint {
  readonly baseUrl: string
  /** Its name there, if that is another one. */
  readonly model?: string
}

/** What is promised of cached prompts. A miss is always honest. */
export interface CachePromise {
  /** Prompts of fewer tokens are not cached. */
  readonly leastTokens?: number
  /** Cached tokens are a multiple of it. */
  readonly stepTokens?: number
}

export interface ToolPromise {
  /** Least share of calls whose arguments fit the schema of the tool. */
  readonly schema?: number
  /** Whether arguments that a request gives word by word come as they are. */
  readonly intact?: true
}

export interface ServedTier {
  /** The value of `service_tier`. */
  readonly tier: string
  /** Most time to the first token, as a share of that of the default tier. */
  readonly ttft?: number
}

/** Encodings whose tokens can be counted here: those of gpt-tokenizer. */
export const encodingNames = ['o200k', 'cl100k', 'p50k', 'r50k'] as const
export type EncodingName = (typeof encodingNames)[number]
/** Their other names: those of tiktoken, and of encodings that differ in control tokens alone. */
export const encodingAliases: Readonly<Record<string, EncodingName>> = {
  ...{ o200k_base: 'o200k', o200k_harmony: 'o200k', cl100k_base: 'cl100k' },
  ...{ p50k_base: 'p50k', p50k_edit: 'p50k', r50k_base: 'r50k', gpt2: 'r50k' },
}
/** The absolute path of a `tokenizer.json`, as open models have it. */
export type TokenizerFile = `${string}.json`
export type Tokenizer = EncodingName | TokenizerFile

export const isTokenizerFile = (tokenizer: string): tokenizer is TokenizerFile =>
  tokenizer.endsWith('.json')

export interface PricedModel extends Model {
  readonly costCredits: Credits
}

export interface FullModel extends PricedModel {
  readonly contextWindowTokens: number
}

/** The model that a request asks for, by its id, an alias or a listed snapshot. */
export const modelNamed = <M extends Model>(models: readonly M[], name: string): M | undefined =>
  models.find((model) => namesOf(model).includes(name))

/** Whether a response to a request for this name may name the other one, in capitals or with its maker before it. */
export function mayBeNamed(models: readonly Model[], asked: string, answered: string): boolean {
  const [from, to] = [asked.toLowerCase(), answered.toLowerCase()]
  const withoutMaker = to.slice(to.lastIndexOf('/') + 1)
  if (to === from || withoutMaker === from) return true
  return models.some((model) => {
    const names = namesOf(model).map((name) => name.toLowerCase())
    const isNamed = (name: string) => names.includes(name) || isDated(model, name)
    return names.includes(from) && (isNamed(to) || isNamed(withoutMaker))
  })
}

export const namesOf = ({ id, aliases = [], snapshots = [] }: Model): readonly string[] => [
  id,
  ...aliases,
  ...(snapshots === 'dated' ? [] : snapshots),
]

/** A regular expression: `-2024-07-18`, `-20240718`, `@20240718` or `-0718` after an id. */
export const datePattern = '[-@:]([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4})'
const date = new RegExp(`^${datePattern}$`)

const isDated = ({ id, snapshots }: Model, name: string): boolean =>
  snapshots === 'dated' && name.startsWith(id.toLowerCase()) && date.test(name.slice(id.length))
