import type { ModelPrice, PriceTerms } from '../../contract/prices.ts'
import type { DialectName } from '../../tokens/dialects.ts'
import { words } from '../../user/words.ts'
import type { Call } from '../call.ts'
import type { Answer } from '../generate.ts'
import type { Random } from '../random.ts'
import type { Counts, Metered } from './metered.ts'
import { PromptCache } from './prompt-cache.ts'
import { type Steering, steeringOf } from './steering.ts'

/** Tokens of an image in a prompt. */
export const perImageTokens = 85
/** Tokens of an image and of speech in an answer. */
const madeImageTokens = 1_000
const madeAudioTokens = 250

/** What a request brings to its charge before there is an answer. */
export interface Incoming {
  /** The model that was asked for. */
  readonly model: ModelPrice
  readonly dialect: DialectName
  /** The model that answers, which is another if the request falls back. */
  readonly served: ModelPrice
  readonly steering: Steering
  readonly input: Counts
  /** Images and speech that the answer has beside its text. */
  readonly media: Counts
  readonly calls: Readonly<Record<string, number>>
  readonly serviceTier: string | null
  readonly choices: Readonly<Record<string, string>>
}

type Body = Readonly<Record<string, unknown>>

/** Dialects that report what is written to a cache. */
const withWrites: ReadonlySet<DialectName> = new Set([
  ...words('openai-chat openai-responses anthropic bedrock-converse openrouter litellm new-api'),
  ...words('new-api-anthropic'),
])
/** Of those, dialects that report how long it lives there. */
const withLives: ReadonlySet<DialectName> = new Set(
  words('anthropic litellm new-api new-api-anthropic'),
)
/** Dialects without a cache. */
const withoutCache: ReadonlySet<DialectName> = new Set(['cohere', 'perplexity'])

/** Counts what requests use. Prompts that a key repeats are read from a cache. */
export class Meter {
  readonly #terms: PriceTerms
  readonly #random: Random
  readonly #losesCache: boolean
  readonly #cache = new PromptCache()

  constructor(terms: PriceTerms, random: Random, losesCache: boolean) {
    this.#terms = terms
    this.#random = random
    this.#losesCache = losesCache
  }

  /** Null if the model has no price. */
  incoming(call: Call, nowUs: number): Incoming | null {
    const { models } = this.#terms
    const at = models.findIndex(({ id }) => id === call.model?.id)
    const model = models[at]
    if (model === undefined) return null
    const text = call.body.toString('utf8')
    const body = JSON.parse(text) as Body
    const steering = steeringOf(call)
    const dialect = dialectOf(model, call)
    const asks = (name: string) => Array.isArray(body.modalities) && body.modalities.includes(name)
    return {
      model,
      dialect,
      served: steering.fallsBack ? models[(at + 1) % models.length]! : model,
      steering,
      input: this.#input(call, model, dialect, text, nowUs),
      media: {
        ...(asks('image') ? { output_image: madeImageTokens } : {}),
        ...(asks('audio') ? { output_audio: madeAudioTokens } : {}),
      },
      calls: {
        ...(searches(body) ? { search: 1 } : {}),
        ...(asks('image') ? { image: 1 } : {}),
      },
      serviceTier: typeof body.service_tier === 'string' ? body.service_tier : null,
      choices: choicesOf(model, call),
    }
  }

  /**
   * The tokens of a prompt, in disjoint parts:
   *
   *     ├──── text, in the order of the prompt ────┤├─ images ─┤
   *     │ cache_read │ cache_write │ input_uncached ││ input_image
   *
   * Of a cache that loses its content, the read part is written again.
   */
  #input(
    call: Call,
    { price }: ModelPrice,
    dialect: DialectName,
    text: string,
    nowUs: number,
  ): Counts {
    const imageTokens = (call.request?.images.length ?? 0) * perImageTokens
    const textTokens = call.promptTokens - imageTokens
    const isMarked = /"cache_control"\s*:/.test(text)
    const isLong = withLives.has(dialect) && /"ttl"\s*:\s*"1h"/.test(text)
    // Such a service caches only what a request marks.
    const needsMark = dialect === 'anthropic' || dialect === 'new-api-anthropic'
    const caches = !withoutCache.has(dialect) && (isMarked || !needsMark)
    const cached = caches
      ? this.#cache.meet(ownerOf(call), promptOf(call), textTokens, nowUs, isLong)
      : { read: 0, written: 0 }
    const isLost = this.#losesCache && cached.read > 0 && this.#random() < 0.5
    const read = isLost ? 0 : cached.read
    const hasWritePrice = price.cache_write !== undefined || price.cache_write_1h !== undefined
    const reportsWrites = withWrites.has(dialect) && (isMarked || hasWritePrice)
    const written = reportsWrites ? cached.written + (cached.read - read) : 0
    return {
      input_uncached: textTokens - read - written,
      cache_read: read,
      [isLong ? 'cache_write_1h' : 'cache_write']: written,
      input_image: imageTokens,
    }
  }

  /**
   * @param outputTokens generated, with reasoning
   * @param whole the whole answer, which says how much of it was reasoning
   */
  metered(
    call: Call,
    { model, served, input, media, calls, serviceTier, choices, steering }: Incoming,
    outputTokens: number,
    whole: Answer,
    outcome: Metered['outcome'],
    nowUs: number,
  ): Metered {
    const thought = whole.choices.reduce((sum, choice) => sum + choice.reasoning.length, 0)
    const reasoning = Math.min(thought, outputTokens)
    const startMs = call.incoming.atUs / 1000
    const endMs = nowUs / 1000
    return {
      counts: {
        ...input,
        output_visible: outputTokens - reasoning,
        reasoning,
        ...(outputTokens > 0 ? media : {}),
      },
      calls: { ...calls, second: (endMs - startMs) / 1000 },
      outcome,
      asked: call.request?.model ?? '',
      meant: model.id,
      served: served.id,
      endpoint: call.endpoint,
      stream: call.request?.stream ?? false,
      innerFailures: steering.innerFailures,
      serviceTier,
      choices,
      startMs,
      endMs,
    }
  }
}

/** Whose prompts share a cache: those of one key to one model. */
const ownerOf = ({ key, model }: Call) => `${key?.id} ${model?.id}`

/** What a cache compares, from its start. */
function promptOf({ request }: Call): string {
  const turns = request?.messages.map(({ role, text }) => `${role} ${text}`) ?? []
  return [request?.system ?? '', ...turns].join('\n')
}

function dialectOf({ dialect }: ModelPrice, { endpoint }: Call): DialectName {
  if (endpoint === 'messages') return dialect === 'new-api-anthropic' ? dialect : 'anthropic'
  return dialect ?? 'openai-chat'
}

function searches(body: Body): boolean {
  const tools: readonly unknown[] = Array.isArray(body.tools) ? body.tools : []
  return (
    (body.web_search_options ?? null) !== null ||
    tools.some((tool) => /^web_search/.test(String((tool as Body | null)?.type)))
  )
}

/** A choice of a factor comes in a header: `x-group: vip` for `times: { group: … }`. */
function choicesOf({ factors }: ModelPrice, { incoming }: Call): Readonly<Record<string, string>> {
  const given = Object.keys(factors).flatMap((name) => {
    const value = incoming.headers[`x-${name.replaceAll('_', '-')}`]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(given)
}
