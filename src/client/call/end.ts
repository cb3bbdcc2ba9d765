import { flags } from '../../attempt/flags.ts'
import type { BrokenReason, Encoding, End } from '../../attempt/outcome.ts'
import { generates } from '../../contract/request.ts'
import { isFailure } from '../document/finish-reasons.ts'
import type { PreparedRequest } from './request.ts'

const ok: End = { outcome: 'ok' }
const httpError: End = { outcome: 'http_error' }
export const broken = (reason: BrokenReason): End => ({ outcome: 'broken', reason })
const malformedBody = broken('malformed-body')
const generationFailed = broken('generation-failed')
const noFinishReason = broken('no-finish-reason')

/** What the body of a response said by its end. */
interface SeenBody {
  readonly status: number
  /** Null for none. */
  readonly encoding: Encoding | null
  /** Whether it was nested too deeply for the reader. */
  readonly tooDeep: boolean
  readonly finishReason: string | null
  /** Whether a choice has no reason for its end. */
  readonly endsOpen: boolean
  /** Whether a choice other than the first ended because it failed. */
  readonly otherFailed: boolean
}

/** @param body whether it was one document of the request's format, and whether it is an error */
export function plainEnd(
  { endpoint, streamed }: PreparedRequest,
  seen: SeenBody,
  body: { readonly whole: boolean; readonly failed: boolean },
): End {
  const { status, encoding, tooDeep } = seen
  if (status < 200 || status >= 300) return httpError
  if (encoding !== null) return broken(`content-encoding-${encoding}`)
  if (body.failed) return broken('error-in-body')
  // How messages streams is a gap, so JSON is legal there; the other formats promise a stream.
  if (streamed && endpoint !== 'messages') return broken('unexpected-content-type')
  if (endpoint === 'other') return ok
  if (!body.whole) return tooDeep ? broken('too-deep') : malformedBody
  return generates(endpoint) ? generationEnd(seen) : ok
}

export function streamEnd(
  { endpoint, streamed }: PreparedRequest,
  seen: SeenBody & { readonly flags: number; readonly doneMarks: number },
): End {
  if (seen.encoding !== null) return broken(`content-encoding-${seen.encoding}`)
  if (!streamed) return broken('unexpected-content-type')
  if ((seen.flags & flags.errorInStream) !== 0) return broken('error-in-stream')
  if (seen.tooDeep) return broken('too-deep')
  if (seen.doneMarks === 0) return broken('no-done')
  if ((seen.flags & (flags.notJson | flags.notUtf8)) !== 0) return malformedBody
  return generates(endpoint) ? generationEnd(seen) : ok
}

/** All formats require a reason for the end of each text, and a reason may be a failure. */
function generationEnd({ finishReason, endsOpen, otherFailed }: SeenBody): End {
  if (otherFailed || (finishReason !== null && isFailure(finishReason))) return generationFailed
  return endsOpen ? noFinishReason : ok
}
