import { retryDelayMs } from '../../client/head/retry.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import { usualOf } from '../../contract/usual.ts'
import { RandomStream } from '../../schedule/random.ts'
import type { SenderData } from '../crew/messages.ts'
import type { Flight } from './flight.ts'

/** Further attempts of a slot for which a delay is drawn. */
const drawsOfSlot = 8

/** Whether a request is sent again after an attempt, and when. */
export class Retries {
  private readonly data: SenderData
  private readonly draws: RandomStream

  constructor(data: SenderData) {
    this.data = data
    this.draws = new RandomStream(data.seed, 'retries')
  }

  /** Milliseconds until the next attempt of the same request; null if there is none. */
  delayMs(flight: Flight, attempt: Attempt): number | null {
    const { scenario, contract, timeScale } = this.data
    const { task, plan } = flight
    if (scenario.policy.retries === 'none' || plan.step.wrong !== null) return null
    if (task !== null && (attempt.outcome === 'aborted' || task.progress.isCut)) return null
    const status = Number.isNaN(attempt.status) ? null : attempt.status
    const draw = flight.slot * drawsOfSlot + flight.retry
    const wish = {
      waitMs: (attempt.retryAfter * 1000) / timeScale,
      longestMs: scenario.policy.totalTimeoutUs / 1000,
    }
    return retryDelayMs(usualOf(contract).retry, status, flight.retry + 1, wish, () =>
      this.draws.at(draw),
    )
  }
}
