import { flags } from '../../attempt/flags.ts'
import { headerTimeS } from '../../user/header-time.ts'
import { durationS, structuredState } from './rate-fields.ts'

/** The fields of a head that rate-limit headers fill. */
export interface RateColumns {
  rateLimit: number
  rateRemaining: number
  rateReset: number
  tokenLimit: number
  tokenRemaining: number
  tokenReset: number
  /** Seconds that the service asks to wait. */
  retryAfter: number
  dateS: number
  /** Bits of headers are added. */
  flags: number
}

type ResetColumn = 'rateReset' | 'tokenReset'

/** Values of one head that need another header: a time needs `Date`, and a state needs its policy. */
export class RateTexts {
  limits = ''
  policies = ''
  /** `Retry-After`, if it is no number. */
  retry = ''
  /** `retry-after-ms`; NaN if it is absent or no number. */
  retryMs = Number.NaN
  private readonly nowS: () => number
  private readonly atS: Record<ResetColumn, number> = {
    rateReset: Number.NaN,
    tokenReset: Number.NaN,
  }

  /** @param nowS Unix seconds */
  constructor(nowS: () => number) {
    this.nowS = nowS
  }

  /** Seconds of a duration; a time is kept until `settle`. */
  resetOf(text: string, column: ResetColumn): number {
    this.atS[column] = headerTimeS(text)
    return durationS(text)
  }

  /** Fills what other headers decide, once all of them are read. */
  settle(into: RateColumns): void {
    this.settleTime(into, 'rateReset')
    this.settleTime(into, 'tokenReset')
    this.settleRetry(into)
    const { limits, policies } = this
    this.limits = ''
    this.policies = ''
    if (limits === '') return
    const { requests, tokens } = structuredState(limits, policies)
    if (requests !== null && Number.isNaN(into.rateLimit) && Number.isNaN(into.rateRemaining)) {
      into.rateLimit = requests.limit
      into.rateRemaining = requests.remaining
      into.rateReset = requests.resetS
      into.flags |= flags.structuredRateLimit
    }
    if (tokens !== null && Number.isNaN(into.tokenLimit) && Number.isNaN(into.tokenRemaining)) {
      into.tokenLimit = tokens.limit
      into.tokenRemaining = tokens.remaining
      into.tokenReset = tokens.resetS
    }
  }

  /** A time as whole seconds from `Date`, which has no fractions; Unix seconds without a `Date`. */
  private settleTime(into: RateColumns, column: ResetColumn): void {
    const atS = this.atS[column]
    if (Number.isNaN(atS)) return
    this.atS[column] = Number.NaN
    into[column] = Number.isNaN(into.dateS) ? atS : Math.max(0, Math.floor(atS - into.dateS))
  }

  /** `retry-after-ms` is the finer of two headers, so it counts before the other. */
  private settleRetry(into: RateColumns): void {
    const { retry, retryMs } = this
    this.retry = ''
    this.retryMs = Number.NaN
    if (retryMs >= 0) into.retryAfter = retryMs / 1000
    else if (retry !== '') {
      const fromS = Number.isNaN(into.dateS) ? this.nowS() : into.dateS
      into.retryAfter = Math.max(0, headerTimeS(retry) - fromS)
    }
  }
}
