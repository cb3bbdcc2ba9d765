import { remedyOf } from '../user/remedies.ts'
import { UserError } from '../user/user-error.ts'
import { at, type ProbeResponse } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** @throws UserError if no request got a response */
export function mustAnswer({ responses }: Prober): void {
  const last = responses.at(-1)
  if (last === undefined || responses.some(({ status }) => status !== null)) return
  throw new UserError(
    'unreachable',
    `The service gave no answer: ${requestOf(last)} ended with ${endOf(last)}. Is --base-url the address of an API?`,
  )
}

/** @throws UserError if generations were requested, but none was served, or read and refused */
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

/** Whether a request that may be refused was refused by a service that accepted the key and read the body. */
function isRefusedAsRead({
  row,
  columns: { status, errorCode, errorType },
}: ProbeResponse): boolean {
  if (row.expects !== 'any') return false
  return errorCode === 'model_not_found' || (status === 400 && (errorCode ?? errorType) !== null)
}

const requestOf = ({ row: { endpoint } }: ProbeResponse): string => `a request to ${endpoint}`

function endOf({ status, columns }: ProbeResponse): string {
  if (status === null) return [columns.outcome, columns.reason].filter(Boolean).join(', ')
  // Only plain words can be codes; anything else might control a terminal.
  const code = [columns.errorCode, columns.errorType].find((each) =>
    /^[\w.-]{1,64}$/.test(each ?? ''),
  )
  return `status ${status}${code === undefined ? '' : ` (${code})`}`
}
