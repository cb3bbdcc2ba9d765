import Koa from 'koa'
import ratelimit from 'koa-ratelimit'
import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * Its memory driver begins a window with a key's first request after the last one (`shouldReInit`), and writes
 * the end as seconds of the epoch with a fraction.
 */
export function listener(limit) {
  const app = new Koa()
  app.use(async (context, next) => {
    await next()
    if (context.status === 429) send(context, refusal(context.path, 429, 'rate_limit_exceeded'))
  })
  app.use(
    ratelimit({
      ...{ driver: 'memory', db: new Map(), duration: 60_000, max: limit },
      id: (context) => scopeOf(context.headers, context.path),
    }),
  )
  app.use((context) =>
    send(context, answerTo(context.method, context.path, context.headers, context.req.text)),
  )
  return app.callback()
}

function send(context, { status, type, body }) {
  context.status = status
  context.body = body
  context.type = type
}
