import type { Attempt } from '../../client/row/attempt.ts'
import type { KeyReport } from '../crew/messages.ts'

/** The last credits and rate limit that responses showed for each key. */
export class KeysSeen {
  private readonly last: { creditsRemaining: number; rateRemaining: number }[]

  constructor(keys: number) {
    this.last = Array.from({ length: keys }, () => ({
      creditsRemaining: Number.NaN,
      rateRemaining: Number.NaN,
    }))
  }

  see(key: number, attempt: Attempt): void {
    const last = this.last[key]!
    if (!Number.isNaN(attempt.creditsRemaining)) last.creditsRemaining = attempt.creditsRemaining
    if (!Number.isNaN(attempt.rateRemaining)) last.rateRemaining = attempt.rateRemaining
  }

  report(): readonly KeyReport[] {
    return this.last.map((key) => ({
      creditsRemaining: Number.isNaN(key.creditsRemaining) ? null : key.creditsRemaining,
      rateRemaining: Number.isNaN(key.rateRemaining) ? null : key.rateRemaining,
    }))
  }
}
