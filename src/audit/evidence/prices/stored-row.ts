import type { Outcome } from '../../../attempt/outcome.ts'
import type { CountedAnswer } from '../../../price/attempts/column-usage.ts'

/** A request as it is stored, with its answer. */
export interface Row extends CountedAnswer {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly endpoint: string
  readonly path: string | null
  readonly method: string | null
  readonly streamed: number
  readonly model: string | null
  readonly responseModel: string | null
  readonly responseId: string | null
  readonly outcome: Outcome
  readonly finishReason: string | null
  readonly contentEvents: number
  readonly doneMarks: number
  readonly startMs: number
  readonly headMs: number
  readonly endMs: number
  readonly account: string
  readonly key: string
  readonly once: string | null
  readonly requestBody: string | null
  readonly prompt: string | null
  /** Whether the body is that of another request: the prompt of this one is its own. */
  readonly isShared: boolean
  readonly responseHeaders: string | null
  readonly responseBody: string | null
  readonly truncated: boolean | null
  readonly packedAt: number | null
}
