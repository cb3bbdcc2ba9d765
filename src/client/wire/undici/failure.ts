import { codeOf, localLimitOf } from '../local-limit.ts'
import { isTlsError } from '../tls-error.ts'
import type { Failure, FailureCode } from '../transport.ts'

/** The last step of an exchange before it failed. */
export type Progress = 'connecting' | 'sent' | 'head' | 'head of HTTP/2'

/** Whether bytes came that have no place: an answer without a request, or no HTTP. */
export const isOutOfPlace = (error: Error): boolean =>
  error.name === 'HTTPParserError' || error.message === 'bad response'

/** Translates an error of undici into the codes of our own transport. */
export function failureOf(error: Error, progress: Progress): Failure {
  const code = codeOf(error) || (error.name === 'HTTPParserError' ? 'HPE_' : '')
  return {
    code: failureCodeOf(code, error.message, progress),
    message: `${error.message.trim()} (${code || error.name})`,
  }
}

function failureCodeOf(code: string, message: string, progress: Progress): FailureCode {
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connect-timeout'
  if (code === 'ECONNREFUSED') return 'connect-refused'
  if (isTlsError(code)) return 'tls'
  if (progress === 'connecting') return localLimitOf(code) ?? 'connect-failed'
  switch (code) {
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'HPE_HEADER_OVERFLOW':
      return 'too-large'
    case 'HPE_INVALID_EOF_STATE':
      return 'closed-early'
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      // Without a head, the length itself could not be read; in HTTP/2, the body's end is explicit.
      return progress === 'head' ? 'closed-early' : 'protocol'
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'EPIPE':
    case 'ETIMEDOUT':
    case 'ERR_HTTP2_STREAM_ERROR':
    case 'ERR_HTTP2_STREAM_CANCEL':
      return 'reset'
    // A session ends with the code of its GOAWAY, or with the fault that it could not read.
    case 'ERR_HTTP2_SESSION_ERROR':
      return 'reset'
    case 'ERR_HTTP2_ERROR':
      return 'protocol'
  }
  if (code.startsWith('HPE_')) return 'protocol'
  return wordsOf(message) ?? 'unparsable'
}

/** Several errors of undici share a code and differ only in their message. */
function wordsOf(message: string): FailureCode | null {
  if (message === 'other side closed' || message === 'closed') return 'closed-early'
  if (message === 'bad upgrade' || message.includes('assert(upgrade)')) return 'protocol'
  if (message.startsWith('HTTP/2: "GOAWAY"')) return 'reset'
  if (message.startsWith('HTTP/2: stream half-closed')) return 'closed-early'
  // Reset with an uninformative code.
  if (message.startsWith('HTTP/2: stream closed')) return 'reset'
  return null
}
