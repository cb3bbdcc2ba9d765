import type { Contract } from '../contract/contract.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { missedEarly } from './early-miss.ts'
import type { SharedNumbers } from './shared.ts'
import { creditsOf } from './step-plan.ts'
import type { Tally } from './tally.ts'

export type StopReason =
  | 'interrupted'
  | 'budget'
  | 'errors'
  | 'threshold'
  | 'unreachable'
  /** The store cannot be written. */
  | 'store'
  | 'first-request'

/** Requests before the share of failures, or of refused connections, says anything. */
const enoughForShare = 100
const enoughForReach = 50

/** Why a run is to give up by itself; null when it is to go on. */
export function reasonToStop(
  scenario: Scenario,
  contract: Contract,
  tally: Tally,
  shared: SharedNumbers,
): StopReason | null {
  const { stop, maxCredits } = scenario.policy
  const { sent } = tally.ledger()
  const counters = tally.counters()
  const failures = counters.reduce((sum, each) => sum + each.failures, 0)
  if (shared.failuresInRow >= (stop.consecutiveFailures ?? Infinity)) return 'errors'
  if (sent >= enoughForShare && failures / sent > (stop.errorShare ?? 1)) return 'errors'
  const refused = counters.some((each) => each.notSent > 0)
  if (
    maxCredits !== null &&
    refused &&
    shared.credits + cheapest(scenario, contract) > maxCredits
  ) {
    return 'budget'
  }
  if (sent >= enoughForReach && neverReached(tally)) return 'unreachable'
  return missedEarly(scenario, tally).length > 0 ? 'threshold' : null
}

/** Credits of the cheapest request that costs any: with less left, none can be sent. 0 where all are free. */
function cheapest({ steps }: Scenario, contract: Contract): number {
  const prices = steps.map((step) => creditsOf(step, contract)).filter((price) => price > 0)
  return prices.length === 0 ? 0 : Math.min(...prices)
}

/** Whether requests were sent, and no connection was ever made for one. */
export function neverReached(tally: Tally): boolean {
  const { sent } = tally.ledger()
  const refused = tally
    .counters()
    .reduce(
      (sum, { errors }) => sum + noConnection.reduce((all, why) => all + (errors.get(why) ?? 0), 0),
      0,
    )
  return sent > 0 && refused === sent
}

const noConnection: readonly string[] = ['connect-refused', 'connect-failed', 'connect', 'tls']
