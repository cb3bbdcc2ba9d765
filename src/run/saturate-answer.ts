import type { Outcome } from '../attempt/outcome.ts'
import type { Endpoint } from '../contract/request.ts'

/** Headers as autocannon tells them. */
export type SeenHeaders = Readonly<Record<string, unknown>>

/** What a row says of an answer that autocannon brought. */
export interface JudgedAnswer {
  readonly outcome: Outcome
  readonly reason?: string
  readonly errorCode?: string | null
  readonly errorType?: string | null
  readonly promptTokens?: number | null
  readonly completionTokens?: number | null
}

/** A success is a 2xx with a whole JSON body, as everywhere: never any answer. */
export function judgedAnswer(
  status: number | null,
  body: string,
  endpoint: Endpoint,
): JudgedAnswer {
  if (status === null) return { outcome: 'broken', reason: 'reset' }
  const fields = objectOf(body)
  if (status < 200 || status >= 300) {
    const error = fields?.error as Readonly<Record<string, unknown>> | null | undefined
    return {
      outcome: 'http_error',
      errorCode: textOrNull(error?.code),
      errorType: textOrNull(error?.type),
    }
  }
  if (fields === null || !isWhole(fields, endpoint)) {
    return { outcome: 'broken', reason: 'malformed-body' }
  }
  const usage = fields.usage as Readonly<Record<string, number>> | undefined
  return {
    outcome: 'ok',
    promptTokens: usage?.prompt_tokens ?? usage?.input_tokens ?? null,
    completionTokens: usage?.completion_tokens ?? usage?.output_tokens ?? null,
  }
}

function isWhole(fields: Readonly<Record<string, unknown>>, endpoint: Endpoint): boolean {
  if (endpoint === 'chat') return Array.isArray(fields.choices)
  return endpoint === 'messages' ? Array.isArray(fields.content) : true
}

function objectOf(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' ? (value as Readonly<Record<string, unknown>> | null) : null
  } catch {
    return null
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

export function headerNumber(headers: SeenHeaders | undefined, name: string): number | null {
  const entry = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)
  const value = entry === undefined ? Number.NaN : Number(entry[1])
  return Number.isFinite(value) ? value : null
}
