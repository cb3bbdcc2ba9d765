import { stringify } from 'yaml'
import type { ListedPrices } from './price-lists.ts'

/** The kinds of service for which there is a first contract. */
export type ContractKind = keyof typeof kinds

interface Kind {
  readonly about: string
  readonly top: string
  /** Models of a contract without a price list, as an example to replace. */
  readonly models: string
}

const charged = `# What a request costs by how it ended: full, input, received, none or open (no promise).
charged:
  success: full
  refused: none         # 4xx and 5xx without an answer
  # Does a client that leaves a stream pay nothing, for what was sent, or for the whole answer? Ask the service. Until one of
  # these lines says it, no rule judges what aborted streams cost.
  # abort: none
  # abort: received
  # abort: full
  # broken: none        # the service ended the stream with an error
  # empty: none         # an answer without text
`

const kinds = {
  litellm: {
    about: 'A LiteLLM proxy. It books money in US dollars, and shows each cost in a header.',
    top: `currency: USD

${charged}  gateway_cache: none   # answers from LiteLLM's own cache

evidence:
  cost: [{ header: x-litellm-response-cost }]     # absent or 0 on streams
  balance: { get: /key/info, value: info.spend, moves: up, within: 60s }   # written in batches
  log:
    get: /spend/logs?request_id={response.id}
    id: request_id
    cost: spend
    model: model_group    # \`model\` is what the vendor calls it
    at: startTime
    tokens: { prompt: prompt_tokens, completion: completion_tokens }
    within: 60s
`,
    models: `  - id: gpt-5.6
    # aliases: [gpt-5.6-2026-07-09]      # other names with the same price
    usage: litellm
    price: { input: 4, cache_read: 0.4, cache_write: 5, output: 20 }
`,
  },
  openrouter: {
    about: 'OpenRouter: US dollars, the cost in each answer.',
    top: `currency: USD

${charged}
evidence:
  cost: [{ body: usage.cost }]
  balance: { get: /api/v1/key, value: data.usage, moves: up, within: 60s }
  log:
    get: /api/v1/generation?id={response.id}
    id: id
    cost: total_cost
    model: model
    tokens: { prompt: native_tokens_prompt, completion: native_tokens_completion }
    within: 60s

# With a key of your own at the vendor, OpenRouter takes 5 % of the vendor's cost:
# times: { byok: 0.05 }
`,
    models: `  - id: openai/gpt-5.6
    usage: openrouter
    price: { input: 4, cache_read: 0.4, output: 20 }
`,
  },
  'new-api': {
    about:
      'new-api or one-api: whole quota, 500,000 for one US dollar; ratios of models and groups.',
    top: `currency: quota
digits: 0
is: { USD: 500000 }
round: { at: request, digits: 0, mode: half_up }   # one-api: mode: up
minimum: 1

${charged}
evidence:
  balance: { get: /api/user/self, value: data.quota, moves: down, within: 10s }
  log:
    get: /api/log/self?p={page}&page_size=100
    id: request_id
    join: header:x-oneapi-request-id    # its own id; that of the answer is the vendor's
    cost: quota
    model: model_name
    at: created_at
    tokens: { prompt: prompt_tokens, completion: completion_tokens }
    within: 10s

# The group of your key, as in /api/pricing:
# times: { group: { default: 1, vip: 0.8 } }
`,
    models: `  - id: gpt-5.6
    usage: new-api
    ratios: { model: 2, completion: 5, cache_read: 0.1 }   # input costs 2 quota a token
    # a price of each call: price: { request: 10000 }
`,
  },
  openai: {
    about: 'OpenAI, or a service with its formats: US dollars, no cost in the answer.',
    top: `currency: USD

${charged}`,
    models: `  - id: gpt-5.6
    # aliases: [gpt-5.6-2026-07-09]      # a snapshot with another price is an entry of its own
    price: { input: 4, cache_read: 0.4, cache_write: 5, output: 20, search: 0.01 }
    tiers: { steps: [{ above: 272000, price: { input: 8, cache_read: 0.8, cache_write: 10, output: 30 } }] }
    service: { flex: { times: 0.5 }, priority: { times: 2 }, batch: { times: 0.5 } }
`,
  },
  anthropic: {
    about: 'Anthropic, or a service with its formats: US dollars, no cost in the answer.',
    top: `currency: USD
usage: anthropic        # input_tokens exclude what was read from and written to the cache

${charged}`,
    models: `  - id: claude-haiku-5.5
    price: { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5, search: 0.01 }
    service: { batch: { times: 0.5 } }
`,
  },
  credits: {
    about: 'A service that takes credits for each success.',
    top: `currency: credits
digits: 0               # decimals of a credit: 4 if a request costs 0.0004

${charged}
evidence:
  balance: { header: x-credits-remaining, moves: down }
`,
    models: `  - id: small
    price: { request: 1 }
  - id: large
    price: { request: 5 }
`,
  },
} as const satisfies Record<string, Kind>

/** The text of a first contract, from the service's own price list with its address and date, or null: examples to replace. */
export function firstContract(
  kind: ContractKind,
  listed: { readonly prices: ListedPrices; readonly from: string; readonly at: Date } | null,
): string {
  const { about, top, models } = kinds[kind]
  const source =
    listed === null
      ? '# The prices below are examples: replace them by those that you were promised.'
      : `# Prices: ${listed.from}, ${listed.at.toISOString()}. Compare them with what you were promised.`
  return `# ${about}
# What is not written here is not promised, and no rule judges it. Prices of tokens are for 1,000,000.
# A part without a price costs its parent; \`open\` promises nothing. docs/prices.md has every field.
${source}
name: ${kind}
extends: none

${listed === null ? top : withTop(top, listed.prices.top)}
models:
${listed === null ? models : stringify(listed.prices.models, { flowCollectionPadding: true, lineWidth: 0 }).replace(/^/gm, '  ').trimEnd()}
`
}

const withTop = (text: string, top: ListedPrices['top']): string =>
  Object.keys(top).length === 0 ? text : `${text}\n${stringify(top)}`
