import type { ModelPrice, PriceTerms } from '../../contract/prices.ts'
import type { DialectName } from '../../tokens/dialects.ts'
import type { Call } from '../call.ts'
import type { Answer } from '../generate.ts'
import type { Random } from '../random.ts'
import type { Counts, Metered } from './metered.ts'
import { PromptCache } from './prompt-cache.ts'
import { type Steering, steeringOf } from './steering.ts'

export const perImageTokens = 85
/** Tokens of an image and of speech in an answer. */
const imageTokens = 1_000
const audioTokens = 250

/** What a request brings to its charge before there is an answer. */
export interface Incoming {
  readonly model: ModelPrice
  readonly dialect: DialectName
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

/** Dialects that report what is written to a cache; those that report the life of it; those without reads. */
const withWrites: ReadonlySet<DialectName> = new Set([
  ...(['openai-chat', 'openai-responses', 'anthropic', 'bedrock-converse'] as const),
  ...(['openrouter', 'litellm', 'new-api', 'new-api-anthropic'] as const),
])
const withLives: ReadonlySet<DialectName> = new Set([
  ...(['anthropic', 'litellm', 'new-api', 'new-api-anthropic'] as const),
])
const withoutReads: ReadonlySet<DialectName> = new Set(['cohere', 'perplexity'])

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
        ...(asks('image') ? { output_image: imageTokens } : {}),
        ...(asks('audio') ? { output_audio: audioTokens } : {}),
      },
      calls: {
        ...(searches(body) ? { search: 1 } : {}),
        ...(asks('image') ? { image: 1 } : {}),
      },
      serviceTier: typeof body.service_tier === 'string' ? body.service_tier : null,
      choices: choicesOf(model, call),
    }
  }

  #input(
    call: Call,
    { price }: ModelPrice,
    dialect: DialectName,
    text: string,
    nowUs: number,
  ): Counts {
    const images = (call.request?.images.length ?? 0) * perImageTokens
    const words = call.promptTokens - images
    const isAsked = /"cache_control"\s*:/.test(text)
    const isLong = withLives.has(dialect) && /"ttl"\s*:\s*"1h"/.test(text)
    // Such a service caches only what a request marks.
    const isExplicit = dialect === 'anthropic' || dialect === 'new-api-anthropic'
    const caches = !withoutReads.has(dialect) && (isAsked || !isExplicit)
    const turns = call.request?.messages.map(({ role, text: said }) => `${role} ${said}`) ?? []
    const prompt = [call.request?.system ?? '', ...turns].join('\n')
    const owner = `${call.key?.id} ${call.model?.id}`
    const met = caches
      ? this.#cache.meet(owner, prompt, words, nowUs, isLong)
      : { read: 0, written: 0 }
    const isLost = this.#losesCache && met.read > 0 && this.#random() < 0.5
    const read = isLost ? 0 : met.read
    const hasWritePrice = price.cache_write !== undefined || price.cache_write_1h !== undefined
    const writes = withWrites.has(dialect) && (isAsked || hasWritePrice)
    const written = writes ? met.written + met.read - read : 0
    return {
      input_uncached: words - read - written,
      cache_read: read,
      [isLong ? 'cache_write_1h' : 'cache_write']: written,
      input_image: images,
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
