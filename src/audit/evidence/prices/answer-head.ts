import { headerLines } from '../../../attempt/header-lines.ts'

/** What the headers of an answer say of its charge. */

export const headersOf = (text: string | null): ReadonlyMap<string, string> =>
  new Map(headerLines(text))

/** Headers in which Gemini and Bedrock name the tier that served a request. */
const tierHeaders = ['x-gemini-service-tier', 'x-amzn-bedrock-service-tier']

export function tierOfHeaders(headers: ReadonlyMap<string, string>): string | null {
  const tier = tierHeaders.flatMap((name) => headers.get(name) ?? [])[0]
  return tier === undefined || tier === '' ? null : tier.toLowerCase()
}

/** Headers that say that a gateway answered from its own cache. */
const cacheHeaders = ['x-litellm-cache-hit', 'x-cache', 'x-cache-status', 'cf-aig-cache-status']

/** Headers that say that an answer came again for the key of a repeated request: `Idempotent-Replayed: true`. */
const replayHeader = /^x?-?idempoten(?:t|cy)-(?:replay(?:ed)?|hit|status|cache)$/

/** Whether the head says that the answer is an earlier one. */
export function isCacheHit(headers: ReadonlyMap<string, string>): boolean {
  const saysSo = /^(?:hit|true|yes|1|replay(?:ed)?|cached)\b/i
  return (
    cacheHeaders.some((name) => /^(hit|true)/i.test(headers.get(name) ?? '')) ||
    [...headers].some(([name, value]) => replayHeader.test(name) && saysSo.test(value))
  )
}
