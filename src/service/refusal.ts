import type { Contract } from '../contract/contract.ts'
import type { Profile } from './profile.ts'
import type { Format } from './request.ts'

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
}

/** A refusal as it goes on the wire, before it is put into a shape. */
export interface WireError {
  readonly status: number
  readonly shape: Format | 'other'
  readonly message: string
  /** `error.type` of the shape. */
  readonly type: string
  /** `error.code` of the chat shape; null only where a fault says so. */
  readonly code: string | null
}

const codes: Readonly<Record<RefusalKind, string>> = {
  key: 'invalid_api_key',
  credits: 'insufficient_credits',
  rate: 'rate_limit_exceeded',
  request: 'invalid_request',
  model: 'model_not_found',
  context: 'context_length_exceeded',
  // The table has no rows for these three; §7.2 wants a string all the same.
  path: 'invalid_request',
  internal: 'api_error',
  unavailable: 'api_error',
}

/** Types of the messages table (§7.3), which has no row for credits. */
const messagesTypes: Readonly<Record<RefusalKind, string>> = {
  key: 'authentication_error',
  credits: 'invalid_request_error',
  rate: 'rate_limit_error',
  request: 'invalid_request_error',
  model: 'invalid_request_error',
  context: 'invalid_request_error',
  path: 'invalid_request_error',
  internal: 'api_error',
  unavailable: 'api_error',
}

export function statusOf(kind: RefusalKind, profile: Profile): number {
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
  contract: Contract,
  profile: Profile,
): WireError {
  const code = codes[kind]
  const type =
    shape === 'messages'
      ? messagesTypes[kind]
      : (contract.chatErrors.find((error) => error.code === code)?.type ?? 'api_error')
  return { status: statusOf(kind, profile), shape, message, type, code }
}

export function errorBody({ shape, status, message, type, code }: WireError): object {
  switch (shape) {
    case 'chat':
      return { error: { message, type, code } }
    case 'messages':
      return { type: 'error', error: { type, message } }
    // As many frameworks answer where nobody gave them a shape.
    case 'other':
      return { status, detail: message }
  }
}
