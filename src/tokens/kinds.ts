import { outputOf, type Parts, promptOf, type StatedCounts } from './usage.ts'

/**
 * The kinds of tokens that usage tells apart, each defined once: what is in an attempt, a log, a bill, a sum, an answer of the API, a page.
 * Unlike parts (`usage.ts`), a kind can contain others: all input contains what was read from a cache.
 */
interface TokenKind {
  /** Its column wherever usage is. */
  readonly column: string
  /** The kind that it is a part of; null for all input and all output. */
  readonly within: 'input' | 'output' | 'cacheWrite' | null
  /** The parts that it is the sum of; null if they do not say it. */
  readonly of: (parts: Parts) => number | null
  /** Its name among the counts that a service states. */
  readonly stated: keyof StatedCounts
  /** How columns of logs are called that count it: a regular expression of their end, without case. */
  readonly called: string | null
  /** What a person reads. */
  readonly title: string
}

export const tokenKinds = {
  input: {
    column: 'prompt_tokens',
    within: null,
    of: promptOf,
    stated: 'input',
    called:
      'prompt_?tokens|input_?tokens|tokens_?prompt|tokens_?in|input_?token_?count|n_context_tokens',
    title: 'input tokens',
  },
  cached: {
    column: 'cached_tokens',
    within: 'input',
    of: (parts) => sumIfKnown(parts.cache_read, parts.cache_read_audio),
    stated: 'cacheRead',
    called: 'cache_?read_?(input_?)?tokens|cached_?(input_?)?tokens|cache_?read',
    title: 'cached input tokens',
  },
  cacheWrite: {
    column: 'cache_write_tokens',
    within: 'input',
    of: (parts) => sumIfKnown(parts.cache_write, parts.cache_write_1h),
    stated: 'cacheWrite',
    called: 'cache_?(creation|write)_?(input_?)?tokens',
    title: 'input tokens written to a cache',
  },
  cacheWrite1h: {
    column: 'cache_write_1h_tokens',
    within: 'cacheWrite',
    of: (parts) => parts.cache_write_1h,
    stated: 'cacheWrite1h',
    called: null,
    title: 'input tokens written to a cache for an hour',
  },
  output: {
    column: 'completion_tokens',
    within: null,
    of: outputOf,
    stated: 'output',
    called: 'completion_?tokens|output_?tokens|tokens_?completion|tokens_?out|output_?token_?count',
    title: 'output tokens',
  },
  reasoning: {
    column: 'reasoning_tokens',
    within: 'output',
    of: (parts) => parts.reasoning,
    stated: 'reasoning',
    called: 'reasoning_?(output_?)?tokens|thoughts',
    title: 'reasoning tokens',
  },
} as const satisfies Readonly<Record<string, TokenKind>>

type Kinds = typeof tokenKinds
export type TokenName = keyof Kinds
export const tokenNames = Object.keys(tokenKinds) as readonly TokenName[]

type Camel<Text extends string> = Text extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Text
/** What a field of a kind is called in a mapping of an import, and beside a bucket in JSON: `cachedTokens`. */
export type MappedTokens<Name extends TokenName = TokenName> = Camel<Kinds[Name]['column']>
export const mappedName = <Name extends TokenName>(name: Name) =>
  tokenKinds[name].column.replace(/_(.)/g, (_, first: string) =>
    first.toUpperCase(),
  ) as MappedTokens<Name>

export const eachKind = <Value>(of: (name: TokenName) => Value) =>
  Object.fromEntries(tokenNames.map((name) => [name, of(name)])) as Readonly<
    Record<TokenName, Value>
  >

/** The kinds that have a figure of their own wherever kinds are listed: not the part of a part. */
export type ShownToken = {
  [Name in TokenName]: Kinds[Name]['within'] extends null | 'input' | 'output' ? Name : never
}[TokenName]
export const shownTokens = tokenNames.filter((name): name is ShownToken => {
  const { within } = tokenKinds[name]
  return within === null || tokenKinds[within].within === null
})

/** A value for each of those. */
export const eachToken = <Value>(of: (name: ShownToken) => Value) =>
  Object.fromEntries(shownTokens.map((name) => [name, of(name)])) as Readonly<
    Record<ShownToken, Value>
  >

/** Tokens by kind. Null: not stated. */
export type KindCounts = Readonly<Record<TokenName, number | null>>

/** The counts of each kind: `{ input, cached, cacheWrite, cacheWrite1h, output, reasoning }`. */
export const kindCounts = (parts: Parts): KindCounts =>
  eachKind((name) => tokenKinds[name].of(parts))

/** The same as a service states them, where cached tokens are in the input, and reasoning in the output. */
export const statedCounts = (counts: KindCounts): StatedCounts =>
  Object.fromEntries(tokenNames.map((name) => [tokenKinds[name].stated, counts[name]]))

/** Null if the first is unknown, since the second is split from it. */
const sumIfKnown = (first: number | null, second: number | null) =>
  first === null ? null : first + (second ?? 0)
