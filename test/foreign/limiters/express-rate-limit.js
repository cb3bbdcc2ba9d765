import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * Its memory store begins a window with a key's first request after the last one (`resetClient`), counts
 * rejections (`increment`), and writes the end as seconds of the epoch (`setLegacyHeaders`).
 */
export function listener(limit) {
  const app = express()
  app.use(
    rateLimit({
      ...{ windowMs: 60_000, limit, legacyHeaders: true, standardHeaders: false },
      keyGenerator: (request) => scopeOf(request.headers, request.path),
      handler: (request, response) =>
        send(response, refusal(request.path, 429, 'rate_limit_exceeded')),
    }),
  )
  app.use((request, response) =>
    send(response, answerTo(request.method, request.path, request.headers, request.text)),
  )
  return app
}

function send(response, { status, type, body }) {
  response.status(status).type(type).send(body)
}
