import { besidePrompt, maxTokensOf } from '../../../contract/request-fields.ts'
import { notToThink, type PricedRequest } from '../../../price/judge/request.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { isObject, jsonOf } from '../../../user/json.ts'
import { atPlace } from './answer-json.ts'

/** What the body of a request says of what it may cost. */

/** No more tokens than bytes; a picture, a sound and what a body only names have more tokens than their names have bytes. */
export function askedBytes(body: string | null): number | null {
  const isLonger = (text: string) =>
    namedContent.test(text) || media.some(({ shows }) => shows.test(text))
  return body === null || isLonger(body) ? null : Buffer.byteLength(body)
}

/** What adds tokens that a body does not hold: what was said before, files, pages, prompts by an id, and tools of the service. */
const namedContent = new RegExp(
  [
    `"(?:previous_response_id|conversation|file_?ids?|file_?uri|file_?data|input_file|document|video(?:_url)?|url|cached_?content|mcp_servers|container)"`,
    String.raw`"prompt"\s*:\s*\{`,
    String.raw`"type"\s*:\s*"(?:\w+_20\d{6}|file_search|web_search\w*|code_interpreter|computer_use\w*|mcp|file)"`,
  ].join('|'),
  'i',
)

/** Parts that only exist if a request, or its answer, has such content. */
const media = [
  {
    shows: /"(?:input_audio|audio|modalities|audio_url)"|"audio\//,
    parts: ['input_audio', 'cache_read_audio', 'output_audio'],
  },
  {
    shows:
      /"(?:image|images|image_url|input_image|image_config|modalities|inline_?data|b64_json)"/i,
    parts: ['input_image', 'output_image'],
  },
] as const

/** Audio and images that are not reported are none if neither the request nor its answer has any. */
export function withoutMedia(
  usage: Usage,
  requestBody: string | null,
  texts: readonly string[],
): Usage {
  if (requestBody === null || texts.length === 0) return usage
  const absent = media.filter(
    ({ shows }) => !shows.test(requestBody) && !texts.some((text) => shows.test(text)),
  )
  const none = absent.flatMap(({ parts }) => parts.filter((part) => usage.parts[part] === null))
  if (none.length === 0) return usage
  return {
    ...usage,
    parts: { ...usage.parts, ...Object.fromEntries(none.map((part) => [part, 0])) },
  }
}

/** Names of what lets a service search, or run tools of its own. */
const callWords = /"[^"]*(?:search|tool|plugin)[^"]*"|:online"/i

/** What the body of a request allows its answer. */
export function allowed(
  body: string | null,
): Pick<PricedRequest, 'maxOutputTokens' | 'mayCall' | 'thinking'> {
  const asked = body === null ? undefined : jsonOf(body)
  const most = isObject(asked) ? maxTokensOf(asked) : null
  const answers = ['n', 'best_of']
    .map((name) => atPlace(asked, name))
    .find((count) => typeof count === 'number' && count > 1)
  return {
    maxOutputTokens: most === null ? null : most * (typeof answers === 'number' ? answers : 1),
    mayCall: body === null || callWords.test(body),
    thinking: thinkingOf(asked),
  }
}

/** Fields of a request that say how much a model thinks: `reasoning_effort`, `thinking.budget_tokens`, `enable_thinking`. */
const thinkingWords = /reason|think|effort/i
/** Fields of content, which may have such words. */
const content: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'contents', 'system', 'prompt', 'tools', 'response_format', 'metadata'],
])

/** All that is asked of the thinking, in order; `notToThink` if that only turns it off. */
function thinkingOf(asked: unknown): string {
  const fields = thinkingFields(asked)
  const isOff = fields.length > 0 && fields.every(([name, value]) => turnsOff(name, value))
  if (isOff) return notToThink
  return fields
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .toSorted()
    .join()
}

function thinkingFields(value: unknown): readonly (readonly [string, unknown])[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => {
    if (content.has(name) || each === null) return []
    return thinkingWords.test(name) ? [[name, each] as const] : thinkingFields(each)
  })
}

/** Fields that say what is shown of thoughts, and how. */
const showing = /include|exclude|summary|format|show|display|hide|return|split|separate/i
const switching = /enabl|^(?:use_?)?(?:think|reason)(?:ing)?(?:_?mode)?$/i
const counting = /budget|token|effort/i

/** Whether a field turns thinking off: `enable_thinking: false`, an effort of `none`, a budget of 0, or an object with such a field. */
function turnsOff(name: string, value: unknown): boolean {
  if (showing.test(name)) return false
  if (isObject(value)) return Object.entries(value).some(([each, of]) => turnsOff(each, of))
  if (typeof value === 'string') return /^(?:none|off|disabled?)$/i.test(value)
  return value === false ? switching.test(name) : value === 0 && counting.test(name)
}

/**
 * Requests to one endpoint with the same prompt are twins, streamed or plain: what is equal is the model and all of the body that may
 * add tokens, also a field whose meaning is unknown here, and the most tokens that the answer may have.
 */
export function promptKey({
  path,
  requestBody,
  prompt,
}: {
  readonly path: string | null
  readonly requestBody: string | null
  readonly prompt: string | null
}): string {
  const asked = requestBody === null ? undefined : jsonOf(requestBody)
  if (!isObject(asked)) return prompt ?? ''
  const parts = Object.entries(asked).filter(
    ([name, value]) => value !== null && (!besidePrompt.has(name) || name.startsWith('max_')),
  )
  return JSON.stringify([plainPath(path), ...parts.toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

/** A path without what asks for a stream: Gemini's `:streamGenerateContent`, Bedrock's `/converse-stream`. */
const plainPath = (path: string | null) =>
  (path ?? '')
    .replace(/\?.*$/, '')
    .replace(/:stream([A-Z])/, (_, first: string) => `:${first.toLowerCase()}`)
    .replace(/(?:-with-response)?-stream$/, '')

export function requestedTier(requestBody: string | null): string | null {
  if (requestBody === null) return null
  const asked = jsonOf(requestBody)
  const tier = ['service_tier', 'serviceTier', 'serviceTier.type']
    .map((place) => atPlace(asked, place))
    .find((each) => typeof each === 'string')
  return typeof tier === 'string' ? tier : null
}
