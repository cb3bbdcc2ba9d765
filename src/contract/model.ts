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

/**
 * Whether a response to a request for this name may name the other one: an alias or a snapshot of the same model, a dated release
 * where the contract allows it, each written as `isSameName` allows. Names of two models in the contract are never one.
 */
export function mayBeNamed(models: readonly Model[], asked: string, answered: string): boolean {
  const [from, to] = [asked, answered].map((name) =>
    models.find((model) => namesOf(model).some((own) => inOneCase(own) === inOneCase(name))),
  )
  if (from !== undefined && to !== undefined) return from === to
  return (
    isSameName(asked, answered) ||
    models.some((model) => {
      const isOurs = (name: string) => namesOf(model).some((own) => isSameName(own, name))
      const isDated = model.snapshots === 'dated' && isReleaseOf(model.id, answered)
      return isOurs(asked) && (isOurs(answered) || isDated)
    })
  )
}

/** Whether two names mean one model: in any case, and with its maker before it or not, as in `openai/gpt-5` or `anthropic.claude`. */
export function isSameName(name: string, other: string): boolean {
  const [one, two] = [inOneCase(name), inOneCase(other)]
  const hasMaker = (long: string, short: string) =>
    long.endsWith(short) && /[/.:]$/.test(long.slice(0, -short.length || undefined))
  return one === two || hasMaker(one, two) || hasMaker(two, one)
}

const inOneCase = (name: string): string => name.toLowerCase()

const [month, day] = ['(?:0[1-9]|1[0-2])', '(?:0[1-9]|[12]\\d|3[01])']
/** A day, with its year or without, or a month of a year: `2024-07-18`, `20240718`, `0718`, `2411`. */
const date = `\\d{4}-${month}-${day}|\\d{4}${month}${day}|${month}${day}|2\\d${month}`
const released = new RegExp(`^(.+)[-@:](?:${date})$`)

/** Whether a name is that of a dated release of a model: `gpt-4o-2024-07-18`, `@20240718` or `-0718` after its own. */
export function isReleaseOf(name: string, release: string): boolean {
  const [, undated] = released.exec(release) ?? []
  return undated !== undefined && isSameName(name, undated)
}

export const namesOf = ({ id, aliases = [], snapshots = [] }: Model): readonly string[] => [
  id,
  ...aliases,
  ...(snapshots === 'dated' ? [] : snapshots),
]
