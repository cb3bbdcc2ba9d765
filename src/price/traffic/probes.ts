import type { Model } from '../../contract/contract.ts'
import type { ModelPrice, PriceTerms } from '../../contract/prices.ts'
import { startOf } from '../../contract/read-price.ts'
import { type Rational, roundWhole } from '../../money/rational.ts'

/** Requests that make one thing of a price visible. */
export interface Probe {
  /** The name of its phase: `gpt-5.6-cache`. */
  readonly name: string
  /** What it shows: `the price of cached tokens, plain and streamed`. */
  readonly shows: string
  /** Steps as in a scenario file, each sent `times` times, in turn. */
  readonly steps: Readonly<Record<string, object>>
  readonly times: number
  /** The model whose prices it shows. */
  readonly model: string
  /** Whether one cost alone is right. False for requests that the client aborts: their cost lies between bounds. */
  readonly isExact: boolean
}

type ModelProbe = Omit<Probe, 'model' | 'isExact'>

/** Cached prompts are longer than what any service seen needs to keep one: 1,024 or 2,048 tokens. */
const longTokens = 2_300
/** Room above a threshold for another tokenizer's count. */
const aboveThreshold = 1.1
const shortAnswer = 32
const hello = 'Say what a carat is.'

/** The least traffic that shows each part of each price of a contract; for each model, the requests that the client aborts come last. */
export function probesOf(prices: PriceTerms, models: readonly Model[]): readonly Probe[] {
  return prices.models
    .filter(({ price }) => Object.keys(price).length > 0)
    .flatMap((price) =>
      ofModel(price, models.find(({ id }) => id === price.id)?.aliases ?? []).map((probe) => ({
        ...probe,
        model: price.id,
        isExact: probe.name !== abortName,
        name: `${nameOf(price.id)}-${probe.name}`,
        steps: Object.fromEntries(
          Object.entries(probe.steps).map(([step, fields]) => [
            `${nameOf(price.id)}-${step}`,
            { model: price.id, ...fields },
          ]),
        ),
      })),
    )
}

const nameOf = (id: string) => id.replace(/[^A-Za-z0-9.]+/g, '-')

const chat = { endpoint: 'chat', max_tokens: shortAnswer }
const streamed = { ...chat, stream: true, include_usage: true }
const messages = { endpoint: 'messages', max_tokens: shortAnswer }

const abortName = 'abort'

function ofModel(model: ModelPrice, aliases: readonly string[]): readonly ModelProbe[] {
  const prompt = hello
  const long = { synthetic: longTokens, pool: 1 }
  const has = (...names: readonly string[]) =>
    names.some((name) => Object.hasOwn(model.price, name))
  const isAnthropic = model.dialect === 'anthropic' || model.dialect === 'new-api-anthropic'
  const [plainForm, streamForm] = isAnthropic
    ? [messages, { ...messages, stream: true }]
    : [chat, streamed]
  const content = (extra: object) => [
    { role: 'user', content: [{ type: 'text', text: `${hello} `.repeat(500), ...extra }] },
  ]
  const marked = { messages: content({ cache_control: { type: 'ephemeral' } }) }
  const probes: (ModelProbe | false)[] = [
    {
      name: 'plain',
      shows: 'the price of input and output, plain and streamed',
      steps: { chat: { ...plainForm, prompt }, stream: { ...streamForm, prompt } },
      times: 1,
    },
    has('request') && {
      name: 'slow',
      shows: 'a price for a request that does not grow with its time',
      steps: { slow: { ...plainForm, prompt: 'Count to 200 in words.', max_tokens: 512 } },
      times: 1,
    },
    ...aliases.map((alias, at) => ({
      name: `alias-${at + 1}`,
      shows: `the price by the name ${alias}, plain and streamed`,
      steps: {
        [`alias-${at + 1}`]: { ...plainForm, model: alias, prompt },
        [`alias-${at + 1}-stream`]: { ...streamForm, model: alias, prompt },
      },
      times: 1,
    })),
    has('cache_read', 'cache_write') && {
      name: 'cache',
      shows: 'the prices of cached tokens: two equal long prompts, plain and streamed',
      steps: isAnthropic
        ? {
            // This format caches what a request marks, and nothing else.
            long: { ...messages, body: marked },
            'long-stream': { ...messages, stream: true, body: marked },
          }
        : {
            long: { ...plainForm, prompt: long },
            'long-stream': { ...streamForm, prompt: long },
          },
      times: 2,
    },
    has('cache_write_1h') && {
      name: 'cache-1h',
      shows: 'the price of writes for an hour, and of reading them',
      steps: {
        'long-1h': {
          ...messages,
          body: { messages: content({ cache_control: { type: 'ephemeral', ttl: '1h' } }) },
        },
      },
      times: 2,
    },
    has('reasoning') && {
      name: 'reasoning',
      shows: 'the price of reasoning',
      steps: {
        reasoning: { ...plainForm, prompt: 'What is 17 times 23? Think first.', max_tokens: 256 },
      },
      times: 1,
    },
    has('output_audio') && {
      name: 'speech',
      shows: 'the price of generated audio',
      steps: {
        speech: {
          ...chat,
          prompt,
          body: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
        },
      },
      times: 1,
    },
    has('output_image', 'image') && {
      name: 'image',
      shows: 'the price of generated images',
      steps: { image: { ...chat, prompt, body: { modalities: ['text', 'image'] } } },
      times: 1,
    },
    has('input_image') && {
      name: 'image-input',
      shows: 'the price of an image in the prompt, beside the same prompt without it',
      steps: {
        look: { ...chat, prompt },
        'look-image': {
          ...chat,
          body: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: hello },
                  { type: 'image_url', image_url: { url: onePixel } },
                ],
              },
            ],
          },
        },
      },
      times: 1,
    },
    has('search') && {
      name: 'search',
      shows: 'the price of a search',
      steps: { search: { ...chat, prompt, body: { web_search_options: {} } } },
      times: 1,
    },
    ...Object.keys(model.service).map((tier) => ({
      name: `tier-${nameOf(tier)}`,
      shows: `the price of the service tier ${tier}`,
      steps: { [nameOf(tier)]: { ...plainForm, prompt, body: { service_tier: tier } } },
      times: 1,
    })),
    ...(model.tiers?.steps ?? []).map((step, at) => ({
      name: `above-${at + 1}`,
      shows: `the tier from ${roundWhole(startOf(step), 'up')} tokens on: two equal prompts above it`,
      steps: {
        [`above-${at + 1}`]: {
          ...plainForm,
          prompt: { synthetic: tokensAbove(startOf(step)), pool: 1 },
        },
      },
      times: has('cache_read') ? 2 : 1,
    })),
    model.charged.abort !== 'open' && {
      name: abortName,
      shows: 'what a client pays that leaves at half of a stream',
      steps: {
        whole: { ...streamForm, prompt, max_tokens: 64 },
        half: { ...streamForm, prompt, max_tokens: 64, abort: { events: 20 } },
      },
      times: 1,
    },
  ]
  return probes.filter((probe) => probe !== false)
}

const tokensAbove = (start: Rational) =>
  Math.ceil(Number(roundWhole(start, 'up')) * aboveThreshold) + 16

const onePixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
