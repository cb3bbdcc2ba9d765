import { flags } from '../attempt/flags.ts'
import type { BrokenReason, End } from '../attempt/outcome.ts'
import type { PreparedRequest } from './request.ts'

const ok: End = { outcome: 'ok' }
const httpError: End = { outcome: 'http_error' }
export const broken = (reason: BrokenReason): End => ({ outcome: 'broken', reason })
const malformedBody = broken('malformed-body')

/** @param whole the body was one document of the request's format */
export function plainEnd(
  { endpoint, streamed }: PreparedRequest,
  status: number,
  whole: boolean,
): End {
  if (status < 200 || status >= 300) return httpError
  // The chat format promises a stream; how messages stream is a gap, so JSON may be the answer.
  if (streamed && endpoint === 'chat') return broken('unexpected-content-type')
  return whole || endpoint === 'other' ? ok : malformedBody
}

/** @param streamed whether a stream was asked for */
export function streamEnd(
  streamed: boolean,
  seen: { readonly flags: number; readonly doneMarks: number },
): End {
  if (!streamed) return broken('unexpected-content-type')
  if ((seen.flags & flags.errorInStream) !== 0) return broken('error-in-stream')
  if (seen.doneMarks === 0) return broken('no-done')
  return (seen.flags & (flags.notJson | flags.notUtf8)) === 0 ? ok : malformedBody
}
