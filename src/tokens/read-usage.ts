import { isObject, type JsonObject, jsonOf } from '../user/json.ts'
import { lookup } from '../user/lookup.ts'
import { onceForObject } from '../user/once.ts'
import type { Dialect } from './dialect.ts'
import { type DialectName, dialects } from './dialects.ts'
import { flagsBeside, unreadCounts } from './unread-counts.ts'
import {
  normalUsage,
  outputOf,
  type Part,
  promptOf,
  type StatedCounts,
  type Usage,
  type UsageFlag,
  type UsagePass,
  unknownUsage,
} from './usage.ts'
import { namedIn } from './usage-names.ts'

/**
 * Reads a usage object, or a row of a log, in its dialect.
 *
 *     readUsage({ prompt_tokens: 2006, completion_tokens: 300, prompt_tokens_details: { cached_tokens: 1920 } }, 'openai-chat')
 *       .parts   // { input_uncached: 86, cache_read: 1920, cache_write: null, output_visible: 300, … }
 *
 * new-api's own field `usage_semantic`, and `other.claude` in its log, choose between its two forms.
 *
 * @param usage parsed JSON; inner JSON texts, as in CSV cells, are parsed on the way
 */
export function readUsage(usage: unknown, dialect: DialectName): Usage {
  if (!isObject(usage)) return unknownUsage
  const form = dialects[formOf(usage, dialect)]
  const counts: { -readonly [Name in keyof StatedCounts]: number } = {}
  const wrong = new Set<UsageFlag>()
  for (const [name, places] of fieldsOf(form.counts)) {
    const value = firstOf(usage, places)
    if (value === undefined) continue
    const count = countOf(value)
    if (count === null) wrong.add(isUnreadable(value) ? 'unreadable-count' : 'not-a-count')
    else counts[name as keyof StatedCounts] = count
  }
  const calls: Record<string, number> = lookup()
  for (const [name, places] of fieldsOf(form.calls ?? {})) {
    const value = Number(firstOf(usage, places) ?? Number.NaN)
    if (Number.isFinite(value) && value >= 0) calls[name] = value
  }
  const read = normalUsage(counts, form)
  return { ...read, calls, flags: [...read.flags, ...wrong] }
}

/** The same, with what the usage names beside its counts, and with the passes of the answer: all that a price may depend on. */
export function readWholeUsage(usage: unknown, dialect: DialectName): Usage {
  const read = readUsage(usage, dialect)
  if (!isObject(usage)) return read
  const named = namedIn(usage)
  const calls = { ...otherCalls(named, dialect), ...read.calls }
  const beside = unreadCounts(usage, dialects[formOf(usage, dialect)], read.parts)
  const { passes, unread } = passesOf(usage, read, dialect)
  return {
    ...read,
    calls,
    named,
    passes,
    flags: flagsBeside(read.flags, beside, beyondParts(usage, read, dialect)),
    unread: [...unread, ...beside.map(({ place }) => place)],
  }
}

/** What the stated total has beyond prompt and output; null without one of them. */
function beyondParts(usage: JsonObject, { parts }: Usage, dialect: DialectName): number | null {
  const total = countOf(firstOf(usage, (dialects[dialect].counts.total ?? []).map(placeOf)))
  const [prompt, output] = [promptOf(parts), outputOf(parts)]
  return total === null || prompt === null || output === null ? null : total - prompt - output
}

/** Calls that the dialect does not know, by their own names: `server_tool_use.bash_requests` is `tool.bash`. */
function otherCalls(
  named: Readonly<Record<string, string>>,
  dialect: DialectName,
): Readonly<Record<string, number>> {
  const { calls = {} }: Dialect = dialects[dialect]
  const read = new Set(Object.values(calls).flat())
  const found = Object.entries(named).flatMap(([place, count]) => {
    const name =
      /^connectors\.([^.]+)$/.exec(place)?.[1] ??
      /(?:^|\.)([^.]+)(?:_requests|_calls|\.invocation)$/.exec(place)?.[1]
    const isCall = name !== undefined && !read.has(place) && countOf(count) !== null
    return isCall ? [[`tool.${name}`, Number(count)] as const] : []
  })
  return Object.fromEntries(found)
}

/** The dialect of a usage whose writer is unknown: by its fields, and by the endpoint where they leave it open. */
export function dialectOf(
  usage: unknown,
  endpoint?: 'chat' | 'messages' | 'responses' | string,
): DialectName {
  const has = (...names: readonly string[]) =>
    isObject(usage) && names.some((name) => usage[name] !== undefined && usage[name] !== null)
  if (has('promptTokenCount', 'candidatesTokenCount', 'total_input_tokens')) return 'gemini'
  if (has('inputTokens', 'outputTokens')) return 'bedrock-converse'
  if (has('billed_units')) return 'cohere'
  if (has('usage_semantic')) return 'new-api'
  if (has('citation_tokens', 'num_search_queries')) return 'perplexity'
  if (has('prompt_cache_hit_tokens')) return 'deepseek'
  if (
    has('num_cached_tokens', 'prompt_token_details', 'pages_processed', 'prompt_audio_seconds') ||
    has('connector_tokens', 'connectors')
  )
    return 'mistral'
  if (has('num_sources_used', 'cost_in_usd_ticks') && has('prompt_tokens')) return 'xai-chat'
  if (has('prompt_tokens', 'completion_tokens')) {
    if (has('cache_read_input_tokens', 'cache_creation_input_tokens')) return 'litellm'
    // The total of some services, such as xAI, says that reasoning is beside the completion.
    const { totalIs } = readUsage(usage, 'openai-chat')
    return totalIs === 'input+output+reasoning' ? 'xai-chat' : 'openai-chat'
  }
  if (has('cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'))
    return 'anthropic'
  if (has('input_tokens_details', 'total_tokens', 'seconds')) return 'openai-responses'
  if (endpoint === 'messages') return 'anthropic'
  return endpoint === 'responses' || has('input_tokens') ? 'openai-responses' : 'openai-chat'
}

/** The passes of an answer, and lists of counts that are none. */
function passesOf(usage: JsonObject, top: Usage, dialect: DialectName) {
  const { passes, unread } = listsOfCounts(usage, dialect)
  // One pass with the counts of the answer, or without any, says nothing more.
  const [first] = passes
  const isPlain =
    passes.length === 1 &&
    first!.model === null &&
    (first!.usage === null || isSameCount(first!.usage, top))
  return { passes: isPlain ? [] : passes, unread }
}

function listsOfCounts(
  usage: JsonObject,
  dialect: DialectName,
): { readonly passes: readonly UsagePass[]; readonly unread: readonly string[] } {
  const elements = elementFields(dialect)
  let passes: readonly UsagePass[] = []
  const unread: string[] = []
  for (const [name, list] of Object.entries(usage)) {
    if (!Array.isArray(list) || elements.has(name)) continue
    const read = list.filter(isObject).map((each): UsagePass => {
      const counted = readWholeUsage(each, dialect)
      const isCounted = Object.values(counted.parts).some((count) => count !== null)
      return {
        kind: typeof each.type === 'string' ? each.type : name,
        model: typeof each.model === 'string' ? each.model : null,
        usage: isCounted ? counted : null,
      }
    })
    if (name === passesField) passes = read
    else if (read.some((pass) => pass.usage !== null)) unread.push(name)
  }
  return { passes, unread }
}

/** Anthropic's field: an answer with a summary before it, or of a fallback model, has several. */
export const passesField = 'iterations'

/** Lists that a dialect reads by their elements: `cacheDetails[5m]`. */
function elementFields(dialect: DialectName): ReadonlySet<string> {
  const places = Object.values(dialects[dialect].counts).flat()
  return new Set(places.flatMap((place) => (place.includes('[') ? place.split('[', 1) : [])))
}

const isSameCount = ({ parts: a }: Usage, { parts: b }: Usage): boolean =>
  Object.entries(a).every(([part, count]) => (count ?? 0) === (b[part as Part] ?? 0))

function formOf(usage: JsonObject, dialect: DialectName): DialectName {
  if (dialect === 'new-api' && usage.usage_semantic === 'anthropic') return 'new-api-anthropic'
  if (dialect === 'new-api-log' && firstOf(usage, [placeOf('other.claude')]) === true)
    return 'new-api-log-claude'
  return dialect
}

/** A whole number of 0 or more, also as a text, `10` or `10.0`; else null. */
function countOf(value: unknown): number | null {
  const count =
    typeof value === 'string' && /^\d{1,15}(?:\.0+)?$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null
}

/** A text that may be a count, and may be another: `1,234`. */
const isUnreadable = (value: unknown) =>
  typeof value === 'string' && !/^-?\d+(?:\.\d+)?$/.test(value)

interface Place {
  /** The whole path as one name, for flat attributes such as `gen_ai.usage.input_tokens`. */
  readonly flat: string
  readonly steps: readonly string[]
  /** The `modality` or `ttl` of the element to read. */
  readonly element: string | undefined
}

function placeOf(path: string): Place {
  const [, names, element] = /^([^[]*)(?:\[(.*)\])?$/.exec(path)!
  return { flat: path, steps: names!.split('.'), element }
}

type Fields = readonly (readonly [string, readonly Place[]])[]

/** The places of a dialect's fields, parsed once. */
const fieldsOf = onceForObject(
  (paths: Dialect['counts'] | NonNullable<Dialect['calls']>): Fields =>
    Object.entries(paths).map(([name, list]) => [name, list.map(placeOf)]),
)

/** The first value that is there and not null. */
function firstOf(usage: JsonObject, places: readonly Place[]): unknown {
  for (const place of places) {
    const value = Object.hasOwn(usage, place.flat) ? usage[place.flat] : valueAt(usage, place)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

function valueAt(usage: JsonObject, { steps, element }: Place): unknown {
  let value: unknown = usage
  for (const step of steps) {
    if (typeof value === 'string') value = jsonOf(value)
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]
  }
  if (element === undefined) return value
  if (!Array.isArray(value)) return undefined
  const found = value.find(
    (one) =>
      isObject(one) && (String(one.modality).toUpperCase() === element || one.ttl === element),
  )
  // A list without this modality says that it has none.
  return found === undefined ? 0 : (found.tokenCount ?? found.tokens ?? found.inputTokens)
}
