import { remedyOf } from '../user/remedies.ts'
import { UserError } from '../user/user-error.ts'
import { at, type ProbeResponse } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** @throws UserError where the first read of the balance brought no answer at all */
export function mustAnswer({ responses }: Prober): void {
  const last = responses.at(-1)
  if (last === undefined || responses.some(({ status }) => status !== null)) return
  throw new UserError(
    'unreachable',
    `The service gave no answer: ${requestOf(last)} ended with ${endOf(last)}. Is --base-url the address of an API?`,
  )
}

/** @throws UserError where generations were asked for, and none was served or read and refused */
export function mustServe({ responses }: Prober): void {
  const asked = responses.filter(
    ({ spec: { endpoint, wrong } }) =>
      wrong === null && (endpoint === 'chat' || endpoint === 'messages'),
  )
  const last = asked.at(-1)
  if (
    last === undefined ||
    asked.some((response) => isServed(response) || isRefusedAsRead(response))
  )
    return
  throw new UserError(
    'unreachable',
    `The service served nothing, so there is nothing to ask it: ${requestOf(last)} ended with ${endOf(last)}. ${last.status === null || last.status === 200 ? 'Expected status 200 and a completion.' : remedyOf(last.status)}`,
  )
}

function isServed({ status, json, events, columns }: ProbeResponse): boolean {
  if (status !== 200) return false
  const hasText = at(json, 'choices') !== undefined || at(json, 'content') !== undefined
  return columns.outcome === 'ok' || events.length > 0 || hasText
}

/** What a question asked to be refused was: by a service that took the key, and read the body. */
function isRefusedAsRead({
  row,
  columns: { status, errorCode, errorType },
}: ProbeResponse): boolean {
  if (row.expects !== 'any') return false
  return errorCode === 'model_not_found' || (status === 400 && (errorCode ?? errorType) !== null)
}

function requestOf({ row: { endpoint } }: ProbeResponse): string {
  return `a request to ${endpoint}`
}

function endOf({ status, columns }: ProbeResponse): string {
  if (status === null) return [columns.outcome, columns.reason].filter(Boolean).join(', ')
  // What is no plain word is no code, and might act on a terminal.
  const code = [columns.errorCode, columns.errorType].find((each) =>
    /^[\w.-]{1,64}$/.test(each ?? ''),
  )
  return `status ${status}${code === undefined ? '' : ` (${code})`}`
}
