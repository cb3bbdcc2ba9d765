import { isObject } from '../../user/json.ts'
import { lookup } from '../../user/lookup.ts'
import { type Fields, InvalidRequest } from './fields.ts'
import type { Format } from './generation-request.ts'

interface Parameter {
  readonly name: string
  /**
   * Whether this value asks for something that the answer would have to show.
   *
   * @param sells what the contract prices: the service does that
   */
  asks(value: unknown, sells: ReadonlySet<string>): boolean
  readonly why: string
}

const always = () => true

/** Prices of an output beside text: one of them is enough. */
const outputPrices: Readonly<Record<string, readonly string[]>> = lookup({
  image: ['output_image', 'image'],
  audio: ['output_audio'],
})

const isSold = (output: unknown, sells: ReadonlySet<string>) =>
  output === 'text' || outputPrices[String(output)]?.some((price) => sells.has(price)) === true

/**
 * Parameters of the formats that change what a client gets, and that this service does not do. It
 * refuses them, because a client that gets another answer than it asked for must learn of it. Hints
 * (`seed`, `top_k`, `reasoning_effort`, `service_tier`, …) promise nothing and are accepted.
 */
const notDone: Readonly<Record<Format, readonly Parameter[]>> = {
  chat: [
    { name: 'functions', asks: always, why: 'send tools in its place' },
    { name: 'function_call', asks: always, why: 'send tool_choice in its place' },
    {
      name: 'logprobs',
      asks: (value) => value !== false,
      why: 'this service computes no probabilities of tokens',
    },
    {
      name: 'top_logprobs',
      asks: (value) => value !== 0,
      why: 'this service computes no probabilities of tokens',
    },
    {
      name: 'logit_bias',
      asks: (value) => !isObject(value) || Object.keys(value).length > 0,
      why: 'this service computes no probabilities of tokens',
    },
    {
      name: 'modalities',
      asks: (value, sells) =>
        !Array.isArray(value) || value.some((output) => !isSold(output, sells)),
      why: 'expected "text", or another output that the contract prices',
    },
    {
      name: 'audio',
      asks: (_, sells) => !isSold('audio', sells),
      why: 'this service answers without audio',
    },
    {
      name: 'web_search_options',
      asks: (_, sells) => !sells.has('search'),
      why: 'this service does not search',
    },
  ],
  messages: [
    { name: 'mcp_servers', asks: isNotEmpty, why: 'this service calls no other servers' },
    { name: 'container', asks: always, why: 'this service runs no code' },
    { name: 'context_management', asks: always, why: 'this service edits no conversation' },
  ],
}

function isNotEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length > 0
}

/** @throws InvalidRequest for the first parameter that this service does not do */
export function refuseWhatIsNotDone(
  fields: Fields,
  format: Format,
  sells: ReadonlySet<string>,
): void {
  for (const { name, asks, why } of notDone[format]) {
    const value = fields.get(name)
    if (value !== undefined && asks(value, sells)) {
      throw new InvalidRequest(`${name}: not done; ${why}`)
    }
  }
}

/** The names, which a test compares with those of the guide. */
export function notDoneBy(format: Format): readonly string[] {
  return notDone[format].map(({ name }) => name)
}
