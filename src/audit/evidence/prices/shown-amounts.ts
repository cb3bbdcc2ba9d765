import { pricesOutput } from '../../../contract/price-entry.ts'
import type { ModelPrice, Price } from '../../../contract/prices.ts'
import { type Usage, unknownUsage } from '../../../tokens/usage.ts'
import { isObject, jsonOf } from '../../../user/json.ts'
import { atPlace } from './answer-json.ts'

/**
 * Amounts that an answer, or its request, shows beside a usage: images that it made, characters that it spoke, calls of the
 * service's own tools.
 */

/** The usage of a model whose output costs nothing: embeddings and rankings of some services count a total alone. */
export function withTotal(
  usage: Usage | null,
  documents: readonly unknown[],
  model: ModelPrice | null,
): Usage | null {
  if (usage === null || model === null || pricesOutput(model.price)) return usage
  const { input_uncached, output_visible } = usage.parts
  if (input_uncached !== null || output_visible !== null) return usage
  const total = documents
    .flatMap((each) => [atPlace(each, 'usage.total_tokens'), atPlace(each, 'usage.totalTokens')])
    .find((count) => typeof count === 'number')
  return typeof total !== 'number'
    ? usage
    : { ...usage, parts: { ...usage.parts, input_uncached: total, output_visible: 0 } }
}

/**
 * A usage with the amounts that have a price and that it does not count.
 *
 * @param asked the body of the request
 */
export function withAmounts(
  usage: Usage | null,
  {
    price,
    asked,
    documents,
  }: {
    readonly price: Price
    readonly asked: string | null
    readonly documents: readonly unknown[]
  },
): Usage | null {
  const shown = { image: madeImages(documents), character: spokenCharacters(asked) }
  const added = Object.entries(shown).filter(
    ([name, count]) =>
      count !== null && Object.hasOwn(price, name) && usage?.calls[name] === undefined,
  )
  if (added.length === 0) return usage
  const known = usage ?? { ...unknownUsage, named: {} }
  return { ...known, calls: { ...known.calls, ...(Object.fromEntries(added) as Usage['calls']) } }
}

/** The images in the list of an answer; null if it has none. */
function madeImages(documents: readonly unknown[]): number | null {
  const made = documents
    .flatMap((document) => listAt(document, 'data'))
    .filter((each) => Object.hasOwn(each, 'url') || Object.hasOwn(each, 'b64_json')).length
  return made === 0 ? null : made
}

/** The characters of a text that is spoken. Services count others than those of ASCII in different ways. */
function spokenCharacters(asked: string | null): number | null {
  const text = asked === null ? undefined : atPlace(jsonOf(asked), 'input')
  return typeof text === 'string' && /^[\x20-\x7e]*$/.test(text) ? text.length : null
}

/** Steps of an answer that a service runs and charges for, by the name of their price. Functions and computers are the client's. */
const paidSteps: ReadonlyMap<string, string> = new Map([
  ['web_search_call', 'search'],
  ['x_search_call', 'tool.x_search'],
  ['file_search_call', 'tool.file_search'],
  ['code_interpreter_call', 'tool.code_interpreter'],
  ['image_generation_call', 'tool.image_generation'],
])

/**
 * Prices of calls that an answer shows, whether or not its usage counts them: steps of the Responses API, sources of a search, the
 * queries of Gemini's; and of images in the request.
 */
export function shownCalls(documents: readonly unknown[], asked: string | null): readonly string[] {
  const names = new Set<string>()
  for (const document of documents) {
    const step = atPlace(document, 'item')
    const steps = [...listAt(document, 'output'), ...listAt(document, 'response.output')]
    for (const { type } of [...steps, ...(isObject(step) ? [step] : [])]) {
      const name = typeof type === 'string' ? paidSteps.get(type) : undefined
      if (name !== undefined) names.add(name)
    }
    if (showsSearch(document)) names.add('search')
  }
  if (asked !== null && hasImages.test(asked)) names.add('image')
  return [...names]
}

const hasImages = /"(?:image_url|input_image|inline_?data)"|"type"\s*:\s*"image"/i

function showsSearch(document: unknown): boolean {
  const sources = ['choices.0.message.annotations', 'choices.0.delta.annotations'].flatMap(
    (place) => listAt(document, place),
  )
  const queries = atPlace(document, 'candidates.0.groundingMetadata.webSearchQueries')
  return (
    sources.some(({ type }) => type === 'url_citation') ||
    (Array.isArray(queries) && queries.length > 0)
  )
}

function listAt(document: unknown, place: string): readonly Readonly<Record<string, unknown>>[] {
  const list = atPlace(document, place)
  return Array.isArray(list) ? list.filter(isObject) : []
}
