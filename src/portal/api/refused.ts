import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { plainText } from '../../user/hostile.ts'
import { UserError } from '../../user/user-error.ts'
import { Problem } from './problem.ts'

/**
 * The answer to a request that failed: problem+json, never kept.
 *
 * @param log hears why we failed, with the id that the answer carries
 */
export function refused(
  error: unknown,
  context: Context,
  log: (line: string) => void = () => {},
): Response {
  const problem = error instanceof Problem ? error : problemOf(error, log)
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

function problemOf(error: unknown, log: (line: string) => void): Problem {
  if (error instanceof UserError && error.code === 'store-held') return notReady()
  const id = randomUUID().slice(0, 8)
  log(`error ${id}: ${causeOf(error)}`)
  return new Problem(500, 'internal', 'The service failed', { id })
}

/** What the log says of a failure: the words for a user, or one line on what failed and in which of our functions. */
export const wordsOf = (error: unknown): string =>
  error instanceof UserError ? plainText(error.message) : causeOf(error)

/** One line: what failed, and in which of our functions. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an error'
  const [, ...frames] = (error.stack ?? '').split(/\n\s*(?=at )/)
  const places = frames.filter((frame) => !/node_modules|node:/.test(frame)).slice(0, 2)
  const [message] = error.message.split('\n')
  return [plainText(message!.slice(0, 300)), ...places.map((each) => each.trim())].join(' ')
}
