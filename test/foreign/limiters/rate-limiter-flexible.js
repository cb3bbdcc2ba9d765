import { RateLimiterMemory } from 'rate-limiter-flexible'
import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * A window begins with a key's first request after the last one (`MemoryStorage.incrby`), and rejections
 * count. The headers are those of its README: the end in seconds of the epoch, Retry-After as seconds with a
 * fraction.
 */
export function listener(limit) {
  const limiter = new RateLimiterMemory({ points: limit, duration: 60 })
  return async (request, response) => {
    const { method, url, headers, text } = request
    const key = scopeOf(headers, url)
    const { count, isOver } = await limiter.consume(key).then(
      (count) => ({ count, isOver: false }),
      (count) => ({ count, isOver: true }),
    )
    const { status, type, body } = isOver
      ? refusal(url, 429, 'rate_limit_exceeded')
      : answerTo(method, url, headers, text)
    response.writeHead(status, {
      'Content-Type': type,
      ...(isOver ? { 'Retry-After': count.msBeforeNext / 1000 } : {}),
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': count.remainingPoints,
      'X-RateLimit-Reset': Math.ceil((Date.now() + count.msBeforeNext) / 1000),
    })
    response.end(body)
  }
}
