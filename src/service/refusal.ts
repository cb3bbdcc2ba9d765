import type { FullContract } from '../contract/contract.ts'
import type { Profile } from './profile.ts'
import type { Format } from './request/generation-request.ts'

/** Why a request gets no answer. */
export type RefusalKind =
  | 'key'
  | 'credits'
  | 'rate'
  | 'request'
  | 'model'
  | 'context'
  | 'path'
  | 'internal'
  | 'unavailable'

export interface Refusal {
  readonly kind: RefusalKind
  readonly message: string
  /** When to retry, from an upstream: seconds or a date. */
  readonly retryAfter?: string
}

/** The parts of an error response, without the shape of a format. */
export interface WireError {
  readonly status: number
  readonly shape: Format | 'other'
  readonly message: string
  /** `error.type` of the shape. */
  readonly type: string
  /** `error.code` of the chat shape. Only a fault makes it null. */
  readonly code: string | null
}

const codes: Readonly<Record<RefusalKind, string>> = {
  key: 'invalid_api_key',
  credits: 'insufficient_credits',
  rate: 'rate_limit_exceeded',
  request: 'invalid_request',
  model: 'model_not_found',
  context: 'context_length_exceeded',
  // The table has no rows for these three, but §7.2 requires a string: they borrow one, not the status of its row.
  path: 'invalid_request',
  internal: 'api_error',
  unavailable: 'api_error',
}

const borrowsCode: ReadonlySet<RefusalKind> = new Set(['path', 'internal', 'unavailable'])

/** The error type of a status in the messages table (§7.3), or of its row without a status. */
function messagesTypeOf({ messagesErrors }: FullContract, status: number): string {
  const row =
    messagesErrors.find(({ statuses }) => statuses?.includes(status)) ??
    messagesErrors.find(({ statuses }) => statuses === null)
  return row?.type ?? otherTypeOf(status)
}

/** The error type for a status without a row in the contract. */
const otherTypeOf = (status: number): string =>
  status < 500 ? 'invalid_request_error' : 'api_error'

/** The status of a kind for which the contract names none. */
function statusOf(kind: RefusalKind, profile: Profile): number {
  switch (kind) {
    case 'key':
      return 401
    case 'credits':
      return 403
    case 'rate':
      return 429
    case 'request':
      return 400
    case 'model':
      return profile.modelNotFound
    case 'context':
      return profile.contextExceeded
    case 'path':
      return 404
    case 'internal':
      return 500
    case 'unavailable':
      return 503
  }
}

export function wireError(
  { kind, message }: Refusal,
  shape: WireError['shape'],
  contract: FullContract,
  profile: Profile,
): WireError {
  const code = codes[kind]
  const row = contract.chatErrors.find((error) => error.code === code)
  const status = (borrowsCode.has(kind) ? null : row?.status) ?? statusOf(kind, profile)
  const type =
    shape === 'messages' ? messagesTypeOf(contract, status) : (row?.type ?? otherTypeOf(status))
  return { status, shape, message, type, code }
}

export function errorBody({ shape, status, message, type, code }: WireError): object {
  switch (shape) {
    case 'chat':
      return { error: { message, type, code } }
    case 'messages':
      return { type: 'error', error: { type, message } }
    // The answer of many frameworks if nobody gives them a shape.
    case 'other':
      return { status, detail: message }
  }
}
