import type { Contract } from '../../contract/contract.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { smallest } from '../../user/extremes.ts'
import type { StepCounters } from '../count/attempt-counts.ts'
import type { Tally } from '../count/tally.ts'
import { missedEarly } from '../judge/thresholds/so-far.ts'
import { creditsOf } from '../plan/step-plan.ts'
import type { SharedNumbers } from './shared.ts'

/** Why a run stopped before its end. */
export const stopReasons = [
  'interrupted',
  /** The time of a search was over, with requests still in flight. */
  'time',
  'budget',
  'errors',
  'threshold',
  'unreachable',
  /** The store cannot be written. */
  'store',
  'first-request',
  /** The machines could not agree on what comes next. */
  'fleet',
] as const
export type StopReason = (typeof stopReasons)[number]

/** Requests that a share of failures needs, and those that `unreachable` needs. */
const enoughForShare = 100
const enoughForReach = 50

/**
 * Why a run must stop itself; null if it goes on.
 *
 * @param isSpent whether no more requests can be paid
 * @param refusedUs how long every request was refused, by `Refusals`
 */
export function reasonToStop(
  scenario: Scenario,
  tally: Tally,
  shared: SharedNumbers,
  isSpent: boolean,
  refusedUs = 0,
): StopReason | null {
  const { stop } = scenario.policy
  const { sent } = tally.counts()
  const counters = tally.counters()
  const failures = counters.reduce((sum, each) => sum + each.failures, 0)
  if (shared.failuresInRow >= (stop.consecutiveFailures ?? Infinity)) return 'errors'
  if (sent >= enoughForShare && failures / sent > (stop.errorShare ?? 1)) return 'errors'
  if (refusedUs >= (stop.refusedForUs ?? Infinity)) return 'errors'
  if ((isSpent || shared.money.isSpent) && counters.some((each) => each.notSent > 0))
    return 'budget'
  if (sent >= enoughForReach && neverReached(tally)) return 'unreachable'
  return missedEarly(scenario, tally).length > 0 ? 'threshold' : null
}

/** Measures how long every request has ended in a failed connection or a 401: a dead service, a revoked key. */
export class Refusals {
  private sinceUs = 0
  private sentThen = 0
  private others = 0

  /** Microseconds; 0 until there are enough requests. Steps that are wrong on purpose do not count. */
  lastedUs(scenario: Scenario, tally: Tally, nowUs: number): number {
    const counters = tally.countersWhere((_, step) => scenario.steps[step]!.wrong === null)
    const sent = counters.reduce((sum, each) => sum + each.sent, 0)
    const others = sent - errorsOf(counters, isRefusal)
    if (others !== this.others || sent === this.sentThen) {
      this.others = others
      this.sentThen = sent
      this.sinceUs = nowUs
    }
    return sent - this.sentThen < enoughForShare ? 0 : nowUs - this.sinceUs
  }
}

/** Credits of the cheapest request that is not free; 0 if all are. */
export function cheapestOf({ steps }: Scenario, contract: Contract): number {
  const prices = steps.map((step) => creditsOf(step, contract)).filter((price) => price > 0)
  return prices.length === 0 ? 0 : smallest(prices)
}

/** Whether requests were sent, but none got a connection. */
export function neverReached(tally: Tally): boolean {
  const { sent } = tally.counts()
  return sent > 0 && errorsOf(tally.counters(), (why) => noConnection.includes(why)) === sent
}

function errorsOf(counters: readonly StepCounters[], counts: (words: string) => boolean): number {
  return counters.reduce(
    (sum, { errors }) =>
      [...errors].reduce((all, [words, count]) => all + (counts(words) ? count : 0), sum),
    0,
  )
}

const noConnection: readonly string[] = ['connect-refused', 'connect-failed', 'connect', 'tls']

const isRefusal = (words: string) => words.startsWith('401') || noConnection.includes(words)
