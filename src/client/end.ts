import { flags } from '../attempt/flags.ts'
import type { BrokenReason, Encoding, End } from '../attempt/outcome.ts'
import type { PreparedRequest } from './request.ts'

const ok: End = { outcome: 'ok' }
const httpError: End = { outcome: 'http_error' }
export const broken = (reason: BrokenReason): End => ({ outcome: 'broken', reason })
const malformedBody = broken('malformed-body')

/** The body of a response at its end. */
interface SeenBody {
  readonly status: number
  /** Null for none. */
  readonly encoding: Encoding | null
  /** Whether it was nested too deeply for the reader. */
  readonly tooDeep: boolean
}

/** @param whole whether the body was one document of the request's format */
export function plainEnd(
  { endpoint, streamed }: PreparedRequest,
  { status, encoding, tooDeep }: SeenBody,
  whole: boolean,
): End {
  if (status < 200 || status >= 300) return httpError
  if (encoding !== null) return broken(`content-encoding-${encoding}`)
  // How messages streams is a gap, so JSON is legal there; the other formats promise a stream.
  if (streamed && endpoint !== 'messages') return broken('unexpected-content-type')
  if (whole || endpoint === 'other') return ok
  return tooDeep ? broken('too-deep') : malformedBody
}

/** @param streamed whether the request asked for a stream */
export function streamEnd(
  streamed: boolean,
  seen: SeenBody & { readonly flags: number; readonly doneMarks: number },
): End {
  if (seen.encoding !== null) return broken(`content-encoding-${seen.encoding}`)
  if (!streamed) return broken('unexpected-content-type')
  if ((seen.flags & flags.errorInStream) !== 0) return broken('error-in-stream')
  if (seen.tooDeep) return broken('too-deep')
  if (seen.doneMarks === 0) return broken('no-done')
  return (seen.flags & (flags.notJson | flags.notUtf8)) === 0 ? ok : malformedBody
}
