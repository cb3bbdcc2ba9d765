import type { Context } from 'hono'
import { Problem } from './problem.ts'

/**
 * The headers of every answer, and which other pages may read it.
 *
 * @param origins those of the settings
 * @throws Problem for an origin that is not listed
 */
export function allowOrigin(context: Context, origins: readonly string[]): void {
  context.header('Vary', 'Authorization, Origin')
  context.header('X-Content-Type-Options', 'nosniff')
  context.header('Referrer-Policy', 'no-referrer')
  const origin = context.req.header('origin')
  // The page in its frame, and scripts of any page: a script has no data.
  if (
    origin === undefined ||
    origin === new URL(context.req.url).origin ||
    context.req.path === '/embed.js'
  ) {
    if (context.req.path === '/embed.js') context.header('Access-Control-Allow-Origin', '*')
    return
  }
  if (!origins.includes(origin)) {
    throw new Problem(403, 'origin-not-allowed', 'This origin may not ask', {
      hint: 'The settings of the service list the origins.',
    })
  }
  context.header('Access-Control-Allow-Origin', origin)
  context.header('Access-Control-Allow-Headers', 'Authorization, If-None-Match, Last-Event-ID')
  context.header('Access-Control-Allow-Methods', 'GET')
  context.header('Access-Control-Max-Age', '600')
  context.header(
    'Access-Control-Expose-Headers',
    'Content-Disposition, ETag, Link, RateLimit, RateLimit-Policy, Retry-After',
  )
}
