import { words } from '../../user/words.ts'

/** Errors of the API by their code (RFC 9457). */
export const problemCodes = [
  ...words('unknown-parameter missing-parameter bad-parameter bad-period bad-timezone bad-cursor'),
  ...words('too-many-bars no-token token-expired bad-signature wrong-audience revoked not-shown'),
  ...words('origin-not-allowed no-such-key no-such-model no-such-tag no-such-unit no-requests'),
  ...words('no-such-page too-many-requests not-ready too-slow internal'),
] as const
export type ProblemCode = (typeof problemCodes)[number]

/** An answer that is an error. Its text names nothing that the asker did not send or may not see. */
export class Problem extends Error {
  readonly status: number
  readonly code: ProblemCode
  readonly detail: string | undefined
  readonly hint: string | undefined
  /** Seconds, for 429 and 503. */
  readonly retryAfterS: number | undefined
  /** What the asker named that is not there. Not in the body of the answer. */
  readonly gone: readonly string[]
  /** Of the line of the log that says why the service failed. */
  readonly id: string | undefined

  constructor(
    status: number,
    code: ProblemCode,
    title: string,
    more: Partial<Pick<Problem, 'detail' | 'hint' | 'retryAfterS' | 'gone' | 'id'>> = {},
  ) {
    super(title)
    this.status = status
    this.code = code
    this.detail = more.detail
    this.hint = more.hint
    this.retryAfterS = more.retryAfterS
    this.gone = more.gone ?? []
    this.id = more.id
  }

  get body() {
    const { status, code, detail, hint, message, id } = this
    return {
      type: `/problems#${code}`,
      title: message,
      status,
      code,
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      ...(id === undefined ? {} : { id }),
    }
  }
}
