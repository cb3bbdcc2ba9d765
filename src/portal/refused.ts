import type { Context } from 'hono'
import { UserError } from '../user/user-error.ts'
import { Problem } from './problem.ts'

/** The answer to a request that failed: problem+json, never kept. */
export function refused(error: unknown, context: Context): Response {
  const problem = error instanceof Problem ? error : problemOf(error)
  context.header('Cache-Control', 'no-store')
  context.header('ETag', undefined)
  if (problem.retryAfterS !== undefined) context.header('Retry-After', String(problem.retryAfterS))
  if (problem.status === 401) context.header('WWW-Authenticate', 'Bearer')
  return context.body(JSON.stringify(problem.body), problem.status as 400, {
    'content-type': 'application/problem+json',
  })
}

export const notReady = () =>
  new Problem(503, 'not-ready', 'The usage has not been read yet', { retryAfterS: 2 })

function problemOf(error: unknown): Problem {
  if (error instanceof UserError && error.code === 'store-held') return notReady()
  return new Problem(500, 'internal', 'The service failed')
}
