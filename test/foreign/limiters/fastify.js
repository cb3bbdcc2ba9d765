import rateLimit from '@fastify/rate-limit'
import fastify from 'fastify'
import { answerTo, refusal } from '../api.js'
import { scopeOf } from '../key.js'

/**
 * Its local store begins a window with a key's first request after the last one (`iterationStartMs`), and
 * writes the seconds that are left of it (`ttlInSeconds`).
 */
export async function listener(limit) {
  const app = fastify()
  await app.register(rateLimit, {
    ...{ max: limit, timeWindow: 60_000 },
    keyGenerator: (request) => scopeOf(request.headers, request.url),
    errorResponseBuilder: () => Object.assign(new Error('limited'), { statusCode: 429 }),
  })
  app.setErrorHandler((_, request, reply) =>
    send(reply, refusal(request.url, 429, 'rate_limit_exceeded'), request),
  )
  // The body has already been read.
  app.addContentTypeParser('*', (_, __, done) => done(null))
  app.removeContentTypeParser('application/json')
  app.all('/*', (request, reply) => {
    const { method, url, headers, raw } = request
    return send(reply, answerTo(method, url, headers, raw.text))
  })
  await app.ready()
  return (request, response) => app.routing(request, response)
}

function send(reply, { status, type, body }) {
  return reply.code(status).type(type).send(body)
}
