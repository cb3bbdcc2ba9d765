import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * Its memory store begins a window with a key's first request after the last one (`resetClient`), counts
 * rejections, and writes the seconds that are left of it, under the names of draft 6.
 */
export function listener(limit) {
  const app = new Hono()
  app.use(
    rateLimiter({
      ...{ windowMs: 60_000, limit },
      keyGenerator: (context) => scopeOf(context.req.header(), context.req.path),
      handler: (context) => send(context, refusal(context.req.path, 429, 'rate_limit_exceeded')),
    }),
  )
  app.all('*', (context) => {
    const { method, path } = context.req
    const { incoming } = context.env
    return send(context, answerTo(method, path, incoming.headers, incoming.text))
  })
  return getRequestListener(app.fetch)
}

function send(context, { status, type, body }) {
  return context.body(body, status, { 'content-type': type })
}
