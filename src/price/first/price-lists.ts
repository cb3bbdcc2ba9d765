import {
  compare,
  decimalText,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  readNumber,
  roundTo,
  zero,
} from '../../money/rational.ts'
import { isObject, type JsonObject } from '../../user/json.ts'

/** The models of a contract, as its file states them, from the price list of a service. */
export interface ListedPrices {
  readonly models: readonly JsonObject[]
  /** Fields at the top of the contract, such as the ratios of groups. */
  readonly top: JsonObject
  /** What could not be taken as it is. */
  readonly notes: readonly string[]
}

const rowsOf = (body: unknown): readonly JsonObject[] =>
  isObject(body) && Array.isArray(body.data) ? body.data.filter(isObject) : []

/** Where each kind of service has its list, and how to read it. */
export const priceLists = {
  litellm: { path: '/model/info', read: readLitellm },
  openrouter: { path: '/api/v1/models', read: readOpenrouter },
  'new-api': { path: '/api/pricing', read: readNewApi },
} as const

/** LiteLLM's names of its prices for one token, each with ours for a million. */
const litellmTokens: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  output_cost_per_image_token: 'output_image',
  citation_cost_per_token: 'citation',
}
const litellmFees: Readonly<Record<string, string>> = {
  input_cost_per_request: 'request',
  input_cost_per_second: 'second',
  input_cost_per_image: 'image',
}

/** `GET /model/info` of LiteLLM's proxy. */
function readLitellm(body: unknown): ListedPrices {
  const notes: string[] = []
  const models = new Map<string, JsonObject>()
  for (const { model_name: name, model_info: info } of rowsOf(body)) {
    if (typeof name !== 'string' || !isObject(info)) continue
    if (models.has(name)) {
      notes.push(`${name}: several deployments; the prices are those of the first`)
      continue
    }
    const note = (text: string) => notes.push(`${name}: ${text}`)
    const priceOf = (suffix: string) => ({
      ...named(info, litellmTokens, suffix, million, note),
      ...named(info, litellmFees, suffix, unit, note),
    })
    const price = priceOf('')
    if (Object.keys(price).length === 0) {
      note('no price in the list')
      continue
    }
    const search = searchPrice(info.search_context_cost_per_query, note)
    const tiers = tiersOf(info)
    const steps = tiers.flatMap(({ above, suffix }) => {
      const higher = priceOf(suffix)
      return Object.keys(higher).length === 0 ? [] : [{ above, price: higher }]
    })
    const service = Object.fromEntries(
      Object.entries(services).flatMap(([tier, suffix]) => {
        const own = priceOf(suffix)
        // Without a price of its own in the tier, LiteLLM bills reasoning as the tier's output.
        const billed =
          own.output !== undefined && price.reasoning !== undefined
            ? { reasoning: own.output, ...own }
            : own
        return Object.keys(own).length === 0 ? [] : [[tier, { price: billed }]]
      }),
    )
    const left = unread(info, [
      '',
      ...tiers.map(({ suffix }) => suffix),
      ...Object.values(services),
    ])
    if (left.length > 0)
      note(`no field of a contract for ${listed.format(left)}; these are left out`)
    models.set(name, {
      id: name,
      usage: 'litellm',
      price: { ...price, ...search },
      ...(steps.length === 0 ? {} : { tiers: { steps } }),
      service: withUsualTiers(service),
    })
  }
  return { models: [...models.values()], top: {}, notes }
}

/** How the names of LiteLLM's prices end in each tier of its service. */
const services = { flex: '_flex', priority: '_priority', batch: '_batches' }

const listed = new Intl.ListFormat('en')

/** The prices of a LiteLLM model that are not 0 and that no field of a contract has. @param suffixes those that are read */
function unread(info: JsonObject, suffixes: readonly string[]): readonly string[] {
  const read = new Set(
    Object.keys({ ...litellmTokens, ...litellmFees }).flatMap((name) =>
      suffixes.map((suffix) => name + suffix),
    ),
  )
  return Object.entries(info).flatMap(([name, value]) =>
    /_cost(_|$)/.test(name) && typeof value === 'number' && value > 0 && !read.has(name)
      ? [name]
      : [],
  )
}

/** LiteLLM bills a tier without a price of its own at the usual one. */
const withUsualTiers = (service: JsonObject): JsonObject => ({
  flex: { times: 1 },
  priority: { times: 1 },
  ...service,
})

/** The sizes of context above which a LiteLLM model has other prices. */
function tiersOf(info: JsonObject): readonly { readonly above: number; readonly suffix: string }[] {
  const suffixes = Object.entries(info).flatMap(([name, value]) => {
    const match = /_above_(\d+)k_tokens$/.exec(name)
    return match === null || value === null ? [] : [match]
  })
  const sizes = [...new Set(suffixes.map((match) => Number(match[1])))].toSorted((a, b) => a - b)
  return sizes.map((size) => ({ above: size * 1000, suffix: `_above_${size}k_tokens` }))
}

function searchPrice(value: unknown, note: (text: string) => void): JsonObject {
  if (!isObject(value)) return {}
  const sizes = Object.entries(value)
  if (sizes.length > 1)
    note(
      `search costs ${sizes.map(([size, cost]) => `${size} ${cost}`).join(', ')}; the last is taken`,
    )
  const price = shown(sizes.at(-1)?.[1], unit, 'search', note)
  return price === null ? {} : { search: price }
}

/** `GET /api/v1/models` of OpenRouter. */
function readOpenrouter(body: unknown): ListedPrices {
  const notes: string[] = []
  const models = rowsOf(body).flatMap(({ id, pricing }): readonly ListedModel[] => {
    if (typeof id !== 'string' || !isObject(pricing)) return []
    const note = (text: string) => notes.push(`${id}: ${text}`)
    const tokens = {
      prompt: 'input',
      completion: 'output',
      input_cache_read: 'cache_read',
      input_cache_write: 'cache_write',
      internal_reasoning: 'reasoning',
      audio: 'input_audio',
    }
    const fees = { request: 'request', image: 'image', web_search: 'search' }
    const price = {
      ...named(pricing, tokens, '', million, note),
      ...withoutZeros(named(pricing, fees, '', unit, note)),
    }
    // OpenRouter lists 0 for reasoning that is priced as output.
    const { reasoning, ...rest } = price
    const own = reasoning === undefined || reasoning === 0 ? rest : price
    return Object.keys(own).length === 0 ? [] : [{ id, usage: 'openrouter', price: own }]
  })
  return { models: onceEach(models, notes), top: {}, notes }
}

/** `GET /api/pricing` of new-api: ratios, or a price of each call in US dollars. */
function readNewApi(body: unknown): ListedPrices {
  const notes: string[] = []
  const groups = isObject(body) && isObject(body.group_ratio) ? body.group_ratio : {}
  const models = rowsOf(body).flatMap((row): readonly ListedModel[] => {
    const { model_name: name, quota_type: kind } = row
    if (typeof name !== 'string') return []
    const note = (text: string) => notes.push(`${name}: ${text}`)
    const ratio = (field: string, as: string) => {
      const value = shown(row[field], unit, as, note)
      return value === null ? {} : { [as]: value }
    }
    if (kind === 1) {
      const request = shown(row.model_price, rational(500_000n), 'request', note)
      if (request !== null) return [{ id: name, price: { request } }]
    }
    const model = kind === 1 ? {} : ratio('model_ratio', 'model')
    if (Object.keys(model).length === 0) {
      note('no price in the list')
      return []
    }
    return [
      {
        id: name,
        usage: 'new-api',
        ratios: {
          ...model,
          ...ratio('completion_ratio', 'completion'),
          ...ratio('cache_ratio', 'cache_read'),
          ...ratio('create_cache_ratio', 'cache_write'),
          ...ratio('audio_ratio', 'audio'),
          ...ratio('audio_completion_ratio', 'audio_completion'),
          ...ratio('image_ratio', 'image'),
        },
      },
    ]
  })
  const choices = Object.fromEntries(
    Object.entries(groups).flatMap(([group, value]) => {
      const times = shown(value, unit, `group ${group}`, (text) => notes.push(text))
      return times === null ? [] : [[group, times]]
    }),
  )
  return {
    models: onceEach(models, notes),
    top: Object.keys(choices).length === 0 ? {} : { times: { group: choices } },
    notes,
  }
}

type ListedModel = JsonObject & { readonly id: string }

/** The first of each name: a contract has a name once. */
function onceEach(models: readonly ListedModel[], notes: string[]): readonly JsonObject[] {
  const seen = new Set<string>()
  return models.filter(({ id }) => {
    const isFirst = !seen.has(id)
    if (!isFirst) notes.push(`${id}: stands twice; the price is that of the first`)
    seen.add(id)
    return isFirst
  })
}

const million = powerOfTen(6)
const unit = rational(1n)

function named(
  fields: JsonObject,
  names: Readonly<Record<string, string>>,
  suffix: string,
  times: Rational,
  note: (text: string) => void,
): Readonly<Record<string, number | string>> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([theirs, ours]) => {
      const value = shown(fields[theirs + suffix], times, ours, note)
      return value === null ? [] : [[ours, value]]
    }),
  )
}

/** A listed price as a contract writes it; null if there is none. Noise of a float is rounded off, and said. */
function shown(
  value: unknown,
  times: Rational,
  name: string,
  note: (text: string) => void,
): number | string | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null
  const listed = readNumber(String(value))
  if (listed === null || compare(listed, zero) < 0) {
    // -1 is OpenRouter's price of a router, which is that of the chosen model.
    note(`${name}: ${JSON.stringify(value)} is no price`)
    return null
  }
  const price = multiply(listed, times)
  const digits = significant(price)
  if (digits <= mostDigits) return plain(price)
  const decimals = decimalText(price).split('.')[1]?.length ?? 0
  const rounded = roundTo(price, decimals - (digits - mostDigits), 'half_even')
  note(
    `${name}: ${value} has ${digits} digits, the noise of a float; taken as ${decimalText(rounded)}`,
  )
  return plain(rounded)
}

const mostDigits = 15
const significant = (value: Rational) =>
  decimalText(value)
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '').length
const plain = (value: Rational) => Number(decimalText(value))

const withoutZeros = (price: Readonly<Record<string, number | string>>) =>
  Object.fromEntries(Object.entries(price).filter(([, value]) => value !== 0))
