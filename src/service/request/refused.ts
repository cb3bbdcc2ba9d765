import { isMapping } from '../../user/mapping.ts'
import { type Fields, InvalidRequest } from './fields.ts'
import type { Format } from './generation-request.ts'

interface Parameter {
  readonly name: string
  /** Whether this value asks for something that the answer would have to show. */
  asks(value: unknown): boolean
  readonly why: string
  /** Prices of which one makes the service do it. */
  readonly soldAs?: readonly string[]
}

const always = () => true

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
      asks: (value) => !isMapping(value) || Object.keys(value).length > 0,
      why: 'this service computes no probabilities of tokens',
    },
    {
      name: 'modalities',
      asks: (value) => !Array.isArray(value) || value.some((each) => each !== 'text'),
      why: 'this service answers with text only; expected ["text"]',
      soldAs: ['output_image', 'output_audio', 'image'],
    },
    {
      name: 'audio',
      asks: always,
      why: 'this service answers with text only',
      soldAs: ['output_audio'],
    },
    {
      name: 'web_search_options',
      asks: always,
      why: 'this service does not search',
      soldAs: ['search'],
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
  for (const { name, asks, why, soldAs = [] } of notDone[format]) {
    if (soldAs.some((price) => sells.has(price))) continue
    const value = fields.get(name)
    if (value !== undefined && asks(value)) throw new InvalidRequest(`${name}: not done; ${why}`)
  }
}

/** The names, for the guide. */
export function notDoneBy(format: Format): readonly string[] {
  return notDone[format].map(({ name }) => name)
}
