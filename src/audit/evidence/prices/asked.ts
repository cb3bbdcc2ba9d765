import type { PricedRequest } from '../../../price/judge/request.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { jsonOf } from '../../../user/json-text.ts'
import { atPlace } from './answer-json.ts'

/** What the body of a request says of what it may cost. */

/** No more tokens than bytes; a picture or a sound has more tokens than its name has bytes. */
export function askedBytes(body: string | null): number | null {
  return body === null || media.some(({ shows }) => shows.test(body))
    ? null
    : Buffer.byteLength(body)
}

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
export function allowed(body: string | null): Pick<PricedRequest, 'maxOutputTokens' | 'mayCall'> {
  const asked = body === null ? undefined : jsonOf(body)
  const most = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']
    .map((name) => atPlace(asked, name))
    .find((count) => typeof count === 'number')
  const answers = ['n', 'best_of']
    .map((name) => atPlace(asked, name))
    .find((count) => typeof count === 'number' && count > 1)
  return {
    maxOutputTokens: most === undefined ? null : most * (typeof answers === 'number' ? answers : 1),
    mayCall: body === null || callWords.test(body),
  }
}

/** Requests with the same text are twins, streamed or plain. */
export function promptKey({
  requestBody,
  prompt,
}: {
  readonly requestBody: string | null
  readonly prompt: string | null
}): string {
  if (requestBody === null) return prompt ?? ''
  try {
    const { model, messages, input, prompt: text, max_tokens: most } = JSON.parse(requestBody)
    return JSON.stringify([messages ?? input ?? text, most, model])
  } catch {
    return prompt ?? ''
  }
}

export function requestedTier(requestBody: string | null): string | null {
  if (requestBody === null) return null
  const asked = jsonOf(requestBody)
  const tier = ['service_tier', 'serviceTier', 'serviceTier.type']
    .map((place) => atPlace(asked, place))
    .find((each) => typeof each === 'string')
  return typeof tier === 'string' ? tier : null
}
