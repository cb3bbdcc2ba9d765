import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * Not a library but a stand-in for LiteLLM's proxy, as its version 1.106 was seen to behave: a count for each
 * minute of the clock, which goes below zero and has no reset; a 500 in plain text where no key is sent; stop
 * sequences that are ignored.
 */
export function listener(limit) {
  const counts = new Map()
  return ({ method, url, headers, text }, response) => {
    if (headers.authorization === undefined && headers['x-api-key'] === undefined) {
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('Internal Server Error')
      return
    }
    const key = `${scopeOf(headers, url)} ${Math.floor(Date.now() / 60_000)}`
    const count = Math.min((counts.get(key) ?? 0) + 1, limit + 1)
    counts.set(key, count)
    const { status, type, body } =
      count > limit
        ? refusal(url, 429, 'rate_limit_exceeded')
        : answerTo(method, url, headers, withoutStops(text))
    response.writeHead(status, {
      'Content-Type': type,
      'x-ratelimit-limit-requests': limit,
      'x-ratelimit-remaining-requests': limit - count,
    })
    response.end(body)
  }
}

function withoutStops(text) {
  if (text === '') return text
  const { stop: _, stop_sequences: __, ...body } = JSON.parse(text)
  return JSON.stringify(body)
}
